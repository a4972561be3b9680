internal import Synchronization
public import System

// This device's own decisions: the devices with which it exchanges, and the root that it follows.
extension MembershipStore {
  /// Stops or resumes all exchange with a member. The decision applies only to this device, and no other device learns
  /// of it. Throws `notAMember`, and `anotherAdminNeeded` for this device itself.
  public func setBlocked(_ isBlocked: Bool, device deviceID: String, by key: DeviceKey) throws {
    try refresh()
    if deviceID == key.deviceID { throw MembershipError.anotherAdminNeeded }
    guard members().contains(where: { $0.deviceID == deviceID }) else {
      throw MembershipError.notAMember(device: deviceID)
    }
    try state.withLock { state in
      var blocked = state.blocked
      if isBlocked { blocked.insert(deviceID) } else { blocked.remove(deviceID) }
      try DeviceList.blocked.write(blocked, in: folder)
      state.blocked = blocked
    }
  }

  /// The IDs that the notebook had before, as far as this device knows.
  public func formerIDs() throws -> Set<String> { try DeviceList.formerly.read(in: folder) }

  /// The IDs that the notebook had before, the latest first.
  public func formerIDsLatestFirst() throws -> [String] {
    try DeviceList.formerly.inOrder(in: folder).reversed()
  }

  /// Starts the membership over: makes a root with this device's key, and this device is the only member. The
  /// former membership is kept beside it, as `membership-` and the beginning of the old notebook ID.
  ///
  /// The history does not change. A device that wants to continue the exchange joins with a code.
  public static func renew(
    in folder: String, deviceName: String, key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> MembershipStore {
    try replace(in: folder, formerly: []) { old, temporary in
      try found(
        in: temporary, notebookName: old.notebookName, deviceName: deviceName, key: key,
        continuing: old, now: now)
    }
  }

  /// The admin who started this notebook's membership over with that root. The root must name this notebook,
  /// and its key must be an admin's by what this device knows (notes-security(7), STARTING OVER). Nil if
  /// nothing proves it. Throws `certificateRefused`.
  public func founder(ofRenewal root: [UInt8]) throws -> Member? {
    let new = try CertificateSet(root: root).root
    guard new.continued == notebookID else { return nil }
    return members().first {
      $0.deviceID == new.deviceID && $0.role == .admin && !$0.isRemoved && !$0.isBlocked
    }
  }

  /// Replaces the membership here by that of the same notebook, which another device started over. `formerly`
  /// are the notebook's former IDs. Throws like `install`.
  public static func replace(
    in folder: String, root: [UInt8], certificates: [[UInt8]], revocations: [[UInt8]],
    formerly: [String]
  ) throws -> MembershipStore {
    // An earlier run was killed after this step.
    let present = try open(in: folder)
    if present.root == root {
      _ = try present.merge(certificates: certificates, revocations: revocations)
      try present.recordFormerIDs(formerly)
      return present
    }
    return try replace(in: folder, formerly: formerly) { _, temporary in
      try install(in: temporary, root: root, certificates: certificates, revocations: revocations)
    }
  }

  private static func replace(
    in folder: String, formerly: [String],
    make: (_ old: MembershipStore, _ temporary: String) throws -> MembershipStore
  ) throws -> MembershipStore {
    let old = try open(in: folder)
    try StoreFolder.removeBegun(beside: folder)
    let new = try make(old, Disk.unique(beside: folder))
    let ids = formerly + (try DeviceList.formerly.inOrder(in: folder)) + [old.notebookID]
    try DeviceList.formerly.write(
      inOrder: Self.latestLast(ids.filter { $0 != new.notebookID }), in: new.folder)
    // This device's own decisions are kept.
    for list in [DeviceList.blocked, .renewal] {
      let own = try list.read(in: folder)
      if !own.isEmpty { try list.write(own, in: new.folder) }
    }
    try StoreFolder.replace(folder, by: new.folder, aside: old.folderAside)
    return try open(in: folder)
  }

  /// The IDs, each once, at the last of its positions.
  private static func latestLast(_ ids: [String]) -> [String] {
    var seen: Set<String> = []
    return ids.reversed().filter { seen.insert($0).inserted }.reversed()
  }

  /// Records the notebook's former IDs, oldest first, as received from the inviting device.
  public func recordFormerIDs(_ formerly: [String]) throws {
    let known = try DeviceList.formerly.inOrder(in: folder)
    let new = formerly.filter { DeviceList.isID($0) && $0 != notebookID && !known.contains($0) }
    if !new.isEmpty {
      try DeviceList.formerly.write(inOrder: Self.latestLast(new + known), in: folder)
    }
  }

  /// Completes a replacement that was interrupted: keeps the former membership beside the present
  /// one.
  func finishReplacing() throws {
    try StoreFolder.finishPuttingAside(folder) { root in
      let id = try Self.notebookID(ofRoot: root)
      guard id != notebookID, try formerIDs().contains(id) else { return nil }
      return "\(folder)-\(id.prefix(8))"
    }
  }

  /// Renames the stored membership to `membership-` and the beginning of the notebook ID: for
  /// leftovers of an interrupted join. The object must not be used afterwards.
  public func putAside() throws {
    try Disk.rename(folder, to: folderAside)
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  private var folderAside: String { "\(folder)-\(notebookID.prefix(8))" }
}
