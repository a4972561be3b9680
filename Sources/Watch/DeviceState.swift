package import Exchange
package import Git
internal import History
package import Notebook
internal import System

/// How another device stands to this one.
package struct DeviceState: Sendable {
  /// Its address, or the one at which it was last reached.
  package var address: String?
  /// When it was last met, in seconds since 1970; now where it is connected, nil if never.
  package var lastSeen: Int64?
  /// Whether a watcher of this device is connected to it.
  package var isConnected = false
  /// How many versions of this device it lacks, or lacked when it was last met; nil if never.
  package var ahead: Int?
  /// How many versions it has that are not here; nil when that is not known.
  package var behind: Int?
  /// Whether it shows, or showed, the version shown here; nil when it was never met.
  package var isInSync: Bool?
  /// The notes that somebody edits there; nil where it is not connected.
  package var editing: [TreePath]?
  /// The versions of one that the other does not merge.
  package var held: [RefusedVersions.Entry] = []

  /// The state of a device that is not connected.
  package init(
    address: String? = nil, lastSeen: Int64? = nil, ahead: Int? = nil, isInSync: Bool? = nil
  ) {
    (self.address, self.lastSeen, self.ahead) = (address, lastSeen, ahead)
    self.isInSync = isInSync
  }

  /// How far two devices agree.
  package enum Agreement: Sendable {
    /// The versions of one are not merged by the other: by the one there, or by this device.
    case notMerged(isThere: Bool)
    case neverMet
    case inSync
    /// How many versions of this device the other one lacks, and how many it has that are not here.
    case apart(lacks: Int, more: Int)
  }

  /// How far it agrees with this device, or did when it was last met.
  package var agreement: Agreement {
    if let refusal = held.first?.refusal { return .notMerged(isThere: refusal.isThere) }
    guard let ahead else { return .neverMet }
    return isInSync == true ? .inSync : .apart(lacks: ahead, more: behind ?? 0)
  }
}

/// A running watcher's states of the other devices, and those that the last sessions left behind.
package struct DeviceStates {
  private let notebook: Notebook
  private let live: WatcherStatus?
  private let tip: ObjectID?
  private let branch: String
  private let held: [RefusedVersions.Entry]

  /// Of a notebook's devices, with what its watcher said, if one runs.
  package init(in notebook: Notebook, live: WatcherStatus?) throws {
    self.notebook = notebook
    self.live = live
    let head = try notebook.repository.head()
    (tip, branch) = (head.commit, head.branch ?? "HEAD")
    held = try RefusedVersions(stateFolder: notebook.stateFolder).all(in: notebook)
  }

  /// The state of the device with this ID.
  package func state(of device: String) throws -> DeviceState {
    let folder = notebook.stateFolder
    let session = live?.peers.first { $0.identity.deviceID == device }
    let recorded = try notebook.repository.reference("refs/remotes/\(device)/\(branch)")
    let shown = session?.shows.tip
    var state = DeviceState(
      address: session?.identity.address
        ?? PeerAddresses(stateFolder: folder).all()[device]?.description,
      lastSeen: session == nil
        ? PeerSightings(stateFolder: folder).last(of: device) : WallClock.now(),
      isInSync: (shown ?? recorded).map { $0 == tip })
    (state.isConnected, state.editing) = (session != nil, session?.shows.editing)
    state.held = held.filter { $0.device == device }
    // The version that it shows may not have arrived yet.
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
