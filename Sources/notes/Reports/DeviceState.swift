internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// How another device stands to this one.
struct DeviceState {
  var address: String?
  var lastSeen: Int64?
  var isConnected = false
  /// How many versions of this device it lacks, or lacked when it was last met; nil if never.
  var ahead: Int?
  /// How many versions it has that are not here; nil when that is not known.
  var behind: Int?
  /// Whether it shows, or showed, the version shown here; nil when it was never met.
  var isInSync: Bool?
  var editing: [TreePath]?
  /// What of one is not merged by the other.
  var held: [HeldVersions.Held] = []

  var agreement: String {
    if let refusal = held.first?.refusal {
      return refusal.isThere ? "does not merge what is here" : "not merged here"
    }
    guard let ahead else { return "" }
    if isInSync == true { return "in sync" }
    let behind = behind ?? 0
    if ahead > 0 {
      return "lacks \(Phrase.count(ahead, "version"))" + (behind > 0 ? ", has \(behind) more" : "")
    }
    return behind > 0 ? "has \(Phrase.count(behind, "version")) more" : "up to date"
  }

  var json: JSON {
    [
      "last_seen": lastSeen.map { TimeText.rfc3339($0) }, "in_sync": isInSync, "ahead": ahead,
      "behind": behind, "editing": editing, "held": held.first?.refusal.name,
    ]
  }
}

/// What a running watcher says of the other devices, and what the last sessions left behind.
struct DeviceStates {
  private let notebook: Notebook
  private let live: WatcherStatus?
  private let tip: ObjectID?
  private let branch: String
  private let held: [HeldVersions.Held]

  init(in notebook: Notebook, live: WatcherStatus?) throws {
    self.notebook = notebook
    self.live = live
    let head = try notebook.repository.head()
    (tip, branch) = (head.commit, head.branch ?? "HEAD")
    held = try HeldVersions(stateFolder: notebook.stateFolder).all(in: notebook)
  }

  func state(of device: String) throws -> DeviceState {
    let folder = notebook.stateFolder
    let session = live?.peers.first { $0.identity.deviceID == device }
    let recorded = try notebook.repository.reference("refs/remotes/\(device)/\(branch)")
    let shown = session?.shows.tip
    var state = DeviceState(
      address: session?.identity.address
        ?? PeerAddresses(stateFolder: folder).all()[device]?.description,
      lastSeen: session == nil ? PeerSightings(stateFolder: folder).last(of: device) : TimeText.now,
      isConnected: session != nil, isInSync: (shown ?? recorded).map { $0 == tip },
      editing: session?.shows.editing)
    state.held = held.filter { $0.device == device }
    // What it shows may not have arrived yet.
    let isHere = try shown.map { try notebook.repository.contains($0) } ?? false
    if let known = isHere ? shown : recorded {
      state.ahead = try notebook.versionCount(from: tip, lacking: known)
    }
    if isHere {
      state.behind = try tip.map { try notebook.versionCount(from: shown, lacking: $0) } ?? 0
    }
    return state
  }
}

extension Notebook {
  /// How many versions that somebody made are in the history of `tip` and not in that of `other`.
  func versionCount(from tip: ObjectID?, lacking other: ObjectID) throws -> Int {
    guard let tip, tip != other else { return 0 }
    let walk = try repository.walk(from: [tip], hiding: [other])
    var count = 0
    while let id = try walk.next() {
      if try !history.isDerived(repository.commit(id)) { count += 1 }
    }
    return count
  }
}
