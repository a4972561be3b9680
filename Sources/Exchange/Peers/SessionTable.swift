package import Git
internal import Synchronization
internal import System

/// The live sessions of a notebook, the fetches in progress, and the facts about continuous sessions for
/// peers. All functions may be called from any thread.
///
/// A device has at most one continuous session. Sessions that end when both sides are done do not count.
public final class SessionTable: Sendable {
  private let ownDevice: String
  private let notebookID: String
  private let emit: @Sendable (Event) -> Void
  private let digest: @Sendable () -> [UInt8]
  private let state = Mutex(State())

  private struct State: Sendable {
    var entries: [Entry] = []
    /// The heads that are being fetched, and by which session.
    var fetched: [ObjectID: SessionHandle] = [:]
    /// The sessions that wait for another session's fetch.
    var waiting: [SessionHandle] = []
    var early: ObjectID?
    var editing: [TreePath] = []
    /// Invitations to other notebooks. Each is sent to the invited device when a session with it begins.
    var offers: [CarriedInvitation] = []

    var lasting: [Entry] { entries.filter { !$0.handle.ends } }

    func lasting(with device: String) -> Entry? {
      entries.first { !$0.handle.ends && $0.handle.peer.deviceID == device }
    }
  }

  private struct Entry: Sendable {
    let handle: SessionHandle
    /// The digest of the known members at the session's start.
    let digest: [UInt8]
    let start = Instant.now
    var peer = PeerState()
  }

  /// Two sessions count as opened at the same time if they began within this many seconds. If the two sides
  /// disagree about that, both connections end, and a side opens another.
  private static let simultaneity = 3.0

  /// The sessions of this device in the notebook with that ID. `emit` gets the events of continuous sessions;
  /// `digest` returns the digest of the known members.
  public init(
    ownDevice: String, notebookID: String = "",
    digest: @escaping @Sendable () -> [UInt8] = { [] },
    emit: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    (self.ownDevice, self.notebookID) = (ownDevice, notebookID)
    (self.digest, self.emit) = (digest, emit)
  }

  /// The continuous sessions, by device name.
  public var lasting: [(peer: PeerIdentity, state: PeerState)] {
    state.withLock { $0.lasting.map { ($0.handle.peer, $0.peer) } }
      .sorted { ($0.peer.name, $0.peer.deviceID) < ($1.peer.name, $1.peer.deviceID) }
  }

  /// The version to which the branch is about to move. Its objects are on the disk, so this side already shows
  /// it, as its only head.
  var early: ObjectID? { state.withLock { $0.early } }

  /// Whether there is a continuous session with this device.
  public func has(_ device: String) -> Bool { session(with: device) != nil }

  /// The continuous session with a device; nil if there is none.
  package func session(with device: String) -> SessionHandle? {
    state.withLock { $0.lasting(with: device)?.handle }
  }

  func isBusy(with device: String) -> Bool {
    state.withLock { $0.entries.contains { $0.handle.peer.deviceID == device } }
  }

  /// Adds a session whose peer has authenticated: notes-protocol(7), "Sessions that go on". From now on the session
  /// is told of this device's versions. Of two sessions with one device the newer is kept. But if each side opened
  /// one at the same time, the one opened by the device with the smaller ID is kept. Throws `SyncError.duplicate` if
  /// the added session is not kept.
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
      // This device may show other versions than when the session was opened.
      session.look()
      if !state.editing.isEmpty { session.send(editing: state.editing) }
      for offer in state.offers where offer.guest == device { session.send(offer) }
      return (former?.handle, false)
    }
    if stays {
      // The former connection may be dead without this side knowing.
      former?.ping()
      throw SyncError.duplicate(device: device)
    }
    former?.end(.duplicate)
    if !session.ends { emit(.connected(notebook: notebookID, peer: session.peer)) }
  }

  /// Removes a session. Reports the end of a continuous one, unless another has replaced it.
  func end(_ session: SessionHandle) {
    endFetch(session)
    let isLast = state.withLock { state in
      let count = state.entries.count
      state.entries.removeAll { $0.handle === session }
      return state.entries.count < count && !session.ends
    }
    if isLast { emit(.disconnected(notebook: notebookID, peer: session.peer)) }
  }

  /// Makes every session show its peer a version to which the branch is about to move.
  package func show(early version: ObjectID) { look(early: version) }

  /// Makes every session check the versions that this device shows now.
  package func look() { look(early: nil) }

  /// Like `look`, after versions from a session were merged. If others are still sending, each peer is
  /// notified of several merges at once.
  package func lookAtMerged() { look(early: nil, mayWait: true) }

  private func look(early: ObjectID?, mayWait: Bool = false) {
    let (entries, waits) = state.withLock { state in
      state.early = early
      let fetching = Set(state.fetched.values.map(ObjectIdentifier.init)).count
      return (state.entries, mayWait && fetching > 1)
    }
    for entry in entries { entry.handle.look(mayWait: waits) }
  }

  /// Tells every session's peer which notes are edited here.
  package func send(editing paths: [TreePath]) {
    let entries = state.withLock { state in
      defer { state.editing = paths }
      return state.editing == paths ? [] : state.entries
    }
    for entry in entries { entry.handle.send(editing: paths) }
  }

  /// Tells a device of an invitation to another notebook, now or when a session with it begins,
  /// until the invitation is withdrawn.
  package func offer(_ invitation: CarriedInvitation) {
    let session = state.withLock { state in
      state.offers.append(invitation)
      return invitation.guest.flatMap { state.lasting(with: $0)?.handle }
    }
    session?.send(invitation)
  }

  /// Withdraws an invitation: no further session tells of it.
  package func withdraw(_ invitation: CarriedInvitation) {
    state.withLock { $0.offers.removeAll { $0 == invitation } }
  }

  /// Asks the peer of every continuous session for a sign of life.
  package func pingAll() { for entry in state.withLock({ $0.lasting }) { entry.handle.ping() } }

  /// Makes the sessions close files that they keep open only for speed.
  package func closeCaches() {
    for entry in state.withLock({ $0.entries }) { entry.handle.closeCaches() }
  }

  /// Ends the sessions that began with an older membership. The sessions that follow exchange the membership at
  /// their beginning.
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

  /// Records the versions that a session's peer shows now, and reports changes in a continuous
  /// session.
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

  // MARK: Fetching: no pack is transferred twice

  /// Whether this session may fetch these heads. If another session is fetching them,
  /// `SessionHandle.reconsider()` is called when that fetch has ended.
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

  /// Records that the session's fetch has ended or was cancelled.
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
