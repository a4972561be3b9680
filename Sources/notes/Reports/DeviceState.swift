internal import Channel
internal import Git
internal import Merge
internal import Notebook
internal import Sync
internal import System
internal import Watch

/// How another device stands to this one.
struct DeviceState {
  var address: String?
  /// When a session was last held with it, in seconds since 1970.
  var lastSeen: Int64?
  /// Whether a session with it stands.
  var isConnected = false
  /// How many versions of this device it lacks, or lacked when it was last met; nil when it never
  /// was.
  var ahead: Int?
  /// How many versions it has that are not here; nil when that is not known.
  var behind: Int?
  /// Whether it shows, or showed, the version shown here; nil when it was never met.
  var isInSync: Bool?
  /// The notes that are edited there; nil when nobody can tell.
  var editing: [TreePath]?
}

/// How the other devices stand: by what a running watcher says of those that are connected to it, and
/// by what the last sessions left behind.
struct DeviceStates {
  private let notebook: Notebook
  private let live: WatcherStatus?
  private let sightings: PeerSightings
  private let addresses: PeerAddresses
  private let tip: ObjectID?
  private let branch: String

  /// - Parameter live: what a running watcher says.
  init(in notebook: Notebook, live: WatcherStatus?) throws {
    self.notebook = notebook
    self.live = live
    sightings = PeerSightings(stateFolder: notebook.stateFolder)
    addresses = PeerAddresses(stateFolder: notebook.stateFolder)
    let head = try notebook.repository.head()
    (tip, branch) = (head.commit, head.branch ?? "HEAD")
  }

  func state(of device: String) throws -> DeviceState {
    let session = live?.peers.first { $0.identity.deviceID == device }
    var state = DeviceState()
    state.isConnected = session != nil
    state.address = session?.identity.address ?? addresses.all()[device]?.description
    state.lastSeen = session == nil ? sightings.last(of: device) : TimeText.now
    state.editing = session?.shows.editing
    let recorded = try notebook.repository.reference("refs/remotes/\(device)/\(branch)")
    let shown = session?.shows.tip
    state.isInSync = (shown ?? recorded).map { $0 == tip }
    // What it shows may not have arrived yet.
    let isHere = try shown.map { try notebook.repository.contains($0) } ?? false
    if let known = isHere ? shown : recorded {
      state.ahead = try tip.map { try count(from: $0, lacking: known) } ?? 0
    }
    if isHere, let shown {
      state.behind = try tip.map { try count(from: shown, lacking: $0) } ?? 0
    }
    return state
  }

  /// How many versions that somebody made are in `tip` and not in `other`.
  private func count(from tip: ObjectID, lacking other: ObjectID) throws -> Int {
    if tip == other { return 0 }
    let walk = try notebook.repository.walk(from: [tip], hiding: [other])
    var count = 0
    while let id = try walk.next() {
      if try !DerivedMerge.isDerived(notebook.repository.commit(id)) { count += 1 }
    }
    return count
  }
}
