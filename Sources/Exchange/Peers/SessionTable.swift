package import Git
internal import Synchronization
internal import System

/// The sessions of a notebook that are under way, who fetches what, and what is told of those that go on.
/// All calls may come from any thread.
///
/// With a device there is one session at most that goes on; those that end by themselves are held
/// beside it.
public final class SessionTable: Sendable {
  private let ownDevice: String
  private let notebookID: String
  private let emit: @Sendable (Event) -> Void
  private let digest: @Sendable () -> [UInt8]
  private let state = Mutex(State())

  private struct State: Sendable {
    var entries: [Entry] = []
    /// Which heads are on their way, and to which session.
    var fetched: [ObjectID: SessionHandle] = [:]
    /// Those that wait for another session's fetch.
    var waiting: [SessionHandle] = []
    var early: ObjectID?
    var editing: [TreePath] = []
    /// Invitations to other notebooks, for devices that are told as soon as a session begins.
    var offers: [CarriedInvitation] = []

    var lasting: [Entry] { entries.filter { !$0.handle.ends } }

    func lasting(with device: String) -> Entry? {
      entries.first { !$0.handle.ends && $0.handle.peer.deviceID == device }
    }
  }

  private struct Entry: Sendable {
    let handle: SessionHandle
    /// The digest of the known members when it began.
    let digest: [UInt8]
    let start = Instant.now
    var peer = PeerState()
  }

  /// How old a session may be for another one to count as opened at the same time, in seconds. Where
  /// both ends of it see this differently, both connections end, and another is made.
  private static let simultaneity = 3.0

  /// The sessions of this device in the notebook of that ID. `emit` is told of those that go on; `digest` is of
  /// what is known of the members.
  public init(
    ownDevice: String, notebookID: String = "",
    digest: @escaping @Sendable () -> [UInt8] = { [] },
    emit: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    (self.ownDevice, self.notebookID) = (ownDevice, notebookID)
    (self.digest, self.emit) = (digest, emit)
  }

  /// The sessions that go on, by device name.
  public var lasting: [(peer: PeerIdentity, state: PeerState)] {
    state.withLock { $0.lasting.map { ($0.handle.peer, $0.peer) } }
      .sorted { ($0.peer.name, $0.peer.deviceID) < ($1.peer.name, $1.peer.deviceID) }
  }

  /// A version whose objects are on the disk and to which the branch is about to move: it is shown already,
  /// and stands for itself alone.
  var early: ObjectID? { state.withLock { $0.early } }

  /// Whether there is a session with this device that goes on.
  public func has(_ device: String) -> Bool { session(with: device) != nil }

  /// The session with a device that goes on, if there is one.
  package func session(with device: String) -> SessionHandle? {
    state.withLock { $0.lasting(with: device)?.handle }
  }

  func isBusy(with device: String) -> Bool {
    state.withLock { $0.entries.contains { $0.handle.peer.deviceID == device } }
  }

  /// Takes a session in, whose peer has proved who it is: notes-protocol(7), "Sessions that go on". From now
  /// on it is told what this device shows. Of two connections the newer stays, but where both sides opened one
  /// at the same time that of the smaller device ID: then it throws `SyncError.duplicate`.
  package func begin(_ session: SessionHandle, now: Instant = .now) throws {
    let (device, digest) = (session.peer.deviceID, digest())
    let opener = session.isOpenedHere ? ownDevice : device
    let (former, stays) = state.withLock { state -> (SessionHandle?, Bool) in
      let former = session.ends ? nil : state.lasting(with: device)
      if let former, former.handle.isOpenedHere != session.isOpenedHere,
        opener != min(ownDevice, device), now < former.start + Self.simultaneity
      {
        return (former.handle, true)
      }
      state.entries.removeAll { $0.handle === former?.handle }
      state.entries.append(Entry(handle: session, digest: digest))
      // This device may show something else than when it was opened.
      session.look()
      if !state.editing.isEmpty { session.send(editing: state.editing) }
      for offer in state.offers where offer.guest == device { session.send(offer) }
      return (former?.handle, false)
    }
    if stays {
      // It may be one that only this side believes in.
      former?.ping()
      throw SyncError.duplicate(device: device)
    }
    former?.end(.duplicate)
    if !session.ends { emit(.connected(notebook: notebookID, peer: session.peer)) }
  }

  /// A session is over. It is told of one that went on, unless another one has taken its place.
  func end(_ session: SessionHandle) {
    endFetch(session)
    let isLast = state.withLock { state in
      let count = state.entries.count
      state.entries.removeAll { $0.handle === session }
      return state.entries.count < count && !session.ends
    }
    if isLast { emit(.disconnected(notebook: notebookID, peer: session.peer)) }
  }

  /// Has every session tell its peer of a version whose branch is about to move.
  package func show(early version: ObjectID) { look(early: version) }

  /// Has every session look at what this device shows now, by its branch.
  package func look() { look(early: nil) }

  /// The same, after what a session has brought was merged. While others bring something, too, each
  /// peer is told of several at once.
  package func lookAtMerged() { look(early: nil, mayWait: true) }

  private func look(early: ObjectID?, mayWait: Bool = false) {
    let (entries, waits) = state.withLock { state in
      state.early = early
      let fetching = Set(state.fetched.values.map(ObjectIdentifier.init)).count
      return (state.entries, mayWait && fetching > 1)
    }
    for entry in entries { entry.handle.look(mayWait: waits) }
  }

  /// Tells every session which notes are edited here.
  package func send(editing paths: [TreePath]) {
    let entries = state.withLock { state in
      defer { state.editing = paths }
      return state.editing == paths ? [] : state.entries
    }
    for entry in entries { entry.handle.send(editing: paths) }
  }

  /// Tells a device of an invitation to another notebook, now or when a session with it begins,
  /// until it is withdrawn.
  package func offer(_ invitation: CarriedInvitation) {
    let session = state.withLock { state in
      state.offers.append(invitation)
      return invitation.guest.flatMap { state.lasting(with: $0)?.handle }
    }
    session?.send(invitation)
  }

  /// Withdraws one: no further session tells of it.
  package func withdraw(_ invitation: CarriedInvitation) {
    state.withLock { $0.offers.removeAll { $0 == invitation } }
  }

  /// Asks every peer of a session that goes on for a sign of life.
  package func pingAll() { for entry in state.withLock({ $0.lasting }) { entry.handle.ping() } }

  /// Has the sessions close what they keep open only for speed.
  package func closeCaches() {
    for entry in state.withLock({ $0.entries }) { entry.handle.closeCaches() }
  }

  /// Ends the sessions that know less of the members: what is exchanged at their beginning is
  /// exchanged when they begin anew.
  package func endOutdated() {
    let digest = digest()
    let outdated = state.withLock { $0.lasting.filter { $0.digest != digest } }
    for entry in outdated { entry.handle.end(.done) }
  }

  /// Ends the sessions with some devices, or with all.
  package func endAll(_ reason: ByeReason, where isMeant: (String) -> Bool = { _ in true }) {
    for entry in state.withLock({ $0.entries }) where isMeant(entry.handle.peer.deviceID) {
      entry.handle.end(reason)
    }
  }

  /// Records what the peer of a session shows now, and tells of what is new in that where the session goes on.
  func update(_ peer: PeerState, of session: SessionHandle) {
    let known = state.withLock { state -> PeerState? in
      let index = state.entries.firstIndex { $0.handle === session && !session.ends }
      guard let index else { return nil }
      defer { state.entries[index].peer = peer }
      return state.entries[index].peer
    }
    guard let known else { return }
    if known.editing != peer.editing {
      emit(.editing(notebook: notebookID, peer: session.peer, paths: peer.editing))
    }
    if known.heads != peer.heads {
      emit(.shows(notebook: notebookID, peer: session.peer, tip: peer.tip))
    }
  }

  // MARK: Fetching: no pack comes twice

  /// Whether this session is the one to fetch these heads. Where another one is at it, this one is
  /// told by `SessionHandle.reconsider()` when that has ended.
  func mayFetch(_ heads: [ObjectID], _ session: SessionHandle) -> Bool {
    state.withLock { state in
      if heads.contains(where: { state.fetched[$0, default: session] !== session }) {
        if !state.waiting.contains(where: { $0 === session }) { state.waiting.append(session) }
        return false
      }
      for head in heads { state.fetched[head] = session }
      return true
    }
  }

  /// The session has fetched what it asked for, or will not.
  func endFetch(_ session: SessionHandle) {
    let waiting = state.withLock { state in
      let others = state.fetched.filter { $0.value !== session }
      if others.count == state.fetched.count { return [SessionHandle]() }
      state.fetched = others
      defer { state.waiting = [] }
      return state.waiting
    }
    for other in waiting where other !== session { other.reconsider() }
  }
}
