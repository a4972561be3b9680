package import Exchange
package import Git
internal import History
package import Notebook
internal import System

/// The state of another device, compared with this one.
package struct DeviceState: Sendable {
  /// The device's present address, or the address at which it was last reached.
  package var address: String?
  /// When the device was last connected, in seconds since 1970; now if it is connected, nil if it
  /// never was.
  package var lastSeen: Int64?
  /// When a device that never connected made its newest version here, in seconds since 1970; nil if none is known.
  package var newestVersion: Int64?
  /// Whether a watcher of this device is connected to it.
  package var isConnected = false
  /// How many versions of this device the other one lacks, or lacked when it was last connected; nil if it
  /// never was.
  package var ahead: Int?
  /// How many versions the other device has that this one lacks; nil if unknown.
  package var behind: Int?
  /// Whether the device is in sync, or was when last connected; nil if it was never connected.
  package var isInSync: Bool?
  /// The notes that somebody edits on the other device; nil if the device is not connected.
  package var editing: [TreePath]?
  /// The held back versions, of either device.
  package var held: [RefusedVersions.Entry] = []

  /// The state of a device that is not connected.
  package init(
    address: String? = nil, lastSeen: Int64? = nil, ahead: Int? = nil, isInSync: Bool? = nil
  ) {
    (self.address, self.lastSeen, self.ahead) = (address, lastSeen, ahead)
    self.isInSync = isInSync
  }

  /// How far two devices are in sync.
  package enum Agreement: Sendable {
    /// The other device (if `isThere`) or this one holds back the other's versions.
    case notMerged(isThere: Bool)
    case neverMet
    case inSync
    /// How many versions of this device the other one lacks, and how many it has that this one
    /// lacks.
    case apart(lacks: Int, more: Int)
  }

  /// Whether the device is in sync with this one, or was when it was last connected.
  package var agreement: Agreement {
    if let refusal = held.first?.refusal { return .notMerged(isThere: refusal.isThere) }
    guard let ahead else { return .neverMet }
    return isInSync == true ? .inSync : .apart(lacks: ahead, more: behind ?? 0)
  }
}

/// The states of the other devices: those from a running watcher, and those recorded by the last
/// sessions.
package struct DeviceStates {
  private let notebook: Notebook
  private let live: WatcherStatus?
  private let tip: ObjectID?
  private let branch: String
  private let held: [RefusedVersions.Entry]
  private let newest: [String: Commit]

  /// The states of a notebook's devices.
  ///
  /// - Parameters:
  ///   - live: the watcher's reply, if one runs.
  ///   - others: the IDs of the other devices.
  package init(in notebook: Notebook, live: WatcherStatus?, of others: [String]) throws {
    self.notebook = notebook
    self.live = live
    let head = try notebook.repository.head()
    (tip, branch) = (head.commit, head.branch ?? "HEAD")
    held = try RefusedVersions(stateFolder: notebook.stateFolder).all(in: notebook)
    let seen = PeerSightings(stateFolder: notebook.stateFolder)
    let unmet = Set(others.filter { seen.last(of: $0) == nil })
    // If the history is incomplete, 'notes doctor' says so.
    newest = (try? notebook.newestVersions(of: unmet)) ?? [:]
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
    if state.lastSeen == nil { state.newestVersion = newest[device]?.author.time }
    state.held = held.filter { $0.device == device }
    // This device may not have received the other one's version yet.
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
