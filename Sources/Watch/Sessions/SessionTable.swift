internal import Git
internal import Membership
internal import Notebook
internal import Sync
internal import Synchronization

/// The sessions of a notebook that stand, one a device at most, and who fetches what. All calls may
/// come from any thread.
final class SessionTable: Sendable {
  private let ownDevice: String
  private let state = Mutex(State())

  private struct State: Sendable {
    var sessions: [String: Entry] = [:]
    /// Which heads are on their way, and to which session.
    var fetched: [ObjectID: SessionLink] = [:]
    /// Those that wait for another session's fetch.
    var waiting: [SessionLink] = []
    /// What this device shows, as the sessions were told.
    var shown: NotebookState?
    var editing: [TreePath] = []
    /// Invitations to other notebooks, for devices that are told as soon as a session stands.
    var offers: [CarriedInvitation] = []
  }

  private struct Entry: Sendable {
    let link: SessionLink
    /// What was known of the members when it began.
    let digest: [UInt8]
    let start = Moment.now
    var standing = PeerStanding()
  }

  /// How long a session may have stood for another one to count as opened at the same time, in
  /// seconds. Where both ends of it see this differently, both connections end, and another is made.
  private static let simultaneity = 3.0

  init(ownDevice: String) { self.ownDevice = ownDevice }

  /// The sessions, by device name.
  var sessions: [(peer: PeerIdentity, standing: PeerStanding)] {
    state.withLock { $0.sessions.values.map { ($0.link.peer, $0.standing) } }
      .sorted { ($0.peer.name, $0.peer.deviceID) < ($1.peer.name, $1.peer.deviceID) }
  }

  /// What this device shows, as the sessions were told.
  var shown: NotebookState? { state.withLock { $0.shown } }

  /// Whether a session with this device stands.
  func has(_ device: String) -> Bool { state.withLock { $0.sessions[device] != nil } }

  /// Takes a session in: notes-protocol(7), "Standing sessions". Of two connections the newer stays,
  /// but where both sides opened one at the same time that of the smaller device ID.
  ///
  /// - Throws: `SyncError.duplicate` when the other one stays.
  func begin(_ link: SessionLink, digest: [UInt8], now: Moment = .now) throws {
    let device = link.peer.deviceID
    let opener = link.isOpenedHere ? ownDevice : device
    let (former, stays) = state.withLock { state -> (SessionLink?, Bool) in
      let former = state.sessions[device]?.link
      if let former, former.isOpenedHere != link.isOpenedHere, opener != min(ownDevice, device),
        let start = state.sessions[device]?.start, now < start + Self.simultaneity
      {
        return (former, true)
      }
      state.sessions[device] = Entry(link: link, digest: digest)
      if let shown = state.shown { link.announce(shown) }
      if !state.editing.isEmpty { link.tell(editing: state.editing) }
      for offer in state.offers where offer.guest == device { link.tell(offer) }
      return (former, false)
    }
    if stays {
      // It may be one that only this side believes in.
      former?.ping()
      throw SyncError.duplicate(device: device)
    }
    former?.end(.duplicate)
  }

  /// A session is over; false when another one has taken its place.
  func end(_ device: String, _ link: SessionLink?) -> Bool {
    if let link { endFetch(link) }
    return state.withLock { state in
      guard let entry = state.sessions[device], entry.link === link else { return false }
      state.sessions[device] = nil
      return true
    }
  }

  /// The session with a device, if one stands.
  func link(_ device: String) -> SessionLink? { state.withLock { $0.sessions[device]?.link } }

  /// Tells every session what this device shows.
  func announce(_ shown: NotebookState) {
    let links = state.withLock { state -> [SessionLink] in
      state.shown = shown
      return state.sessions.values.map(\.link)
    }
    for link in links { link.announce(shown) }
  }

  /// Tells every session which notes are edited here.
  func tell(editing paths: [TreePath]) {
    let links = state.withLock { state -> [SessionLink] in
      guard state.editing != paths else { return [] }
      state.editing = paths
      return state.sessions.values.map(\.link)
    }
    for link in links { link.tell(editing: paths) }
  }

  /// Tells a device of an invitation to another notebook, now or when a session with it begins,
  /// until it is taken back.
  func offer(_ invitation: CarriedInvitation) {
    let link = state.withLock { state in
      state.offers.append(invitation)
      return state.sessions[invitation.guest]?.link
    }
    link?.tell(invitation)
  }

  /// Takes one back: no further session tells of it.
  func withdraw(_ invitation: CarriedInvitation) {
    state.withLock { $0.offers.removeAll { $0 == invitation } }
  }

  /// Asks every peer for a sign of life.
  func pingAll() {
    for link in state.withLock({ $0.sessions.values.map(\.link) }) { link.ping() }
  }

  /// Lets the sessions let go of what they hold open.
  func rest() {
    for link in state.withLock({ $0.sessions.values.map(\.link) }) { link.rest() }
  }

  /// Ends the sessions that know less of the members: what is exchanged at their beginning is
  /// exchanged when they begin anew.
  func endOutdated(digest: [UInt8]) {
    let links = state.withLock { $0.sessions.values.filter { $0.digest != digest }.map(\.link) }
    for link in links { link.end(.done) }
  }

  /// Ends the sessions with some devices, or with all.
  func endAll(_ reason: ByeReason, where isMeant: (String) -> Bool = { _ in true }) {
    for link in state.withLock({ $0.sessions.values.map(\.link) })
    where isMeant(link.peer.deviceID) {
      link.end(reason)
    }
  }

  /// What a peer shows now; nil when nothing is different but the counters, or the session is not
  /// the one that stands.
  func note(_ standing: PeerStanding, of link: SessionLink) -> (
    former: PeerStanding, now: PeerStanding
  )? {
    state.withLock { state in
      let device = link.peer.deviceID
      guard let entry = state.sessions[device], entry.link === link else { return nil }
      state.sessions[device]?.standing = standing
      return (entry.standing, standing)
    }
  }

  // MARK: Fetching: no pack comes twice

  func mayFetch(_ heads: [ObjectID], _ link: SessionLink) -> Bool {
    state.withLock { state in
      let isTaken = heads.contains { head in
        state.fetched[head].map { $0 !== link } ?? false
      }
      if isTaken {
        if !state.waiting.contains(where: { $0 === link }) { state.waiting.append(link) }
        return false
      }
      for head in heads { state.fetched[head] = link }
      return true
    }
  }

  func endFetch(_ link: SessionLink) {
    let waiting = state.withLock { state -> [SessionLink] in
      let mine = state.fetched.filter { $0.value === link }
      if mine.isEmpty { return [] }
      for head in mine.keys { state.fetched[head] = nil }
      defer { state.waiting = [] }
      return state.waiting
    }
    for other in waiting where other !== link { other.reconsider() }
  }
}
