internal import Synchronization
public import System

// The decisions of this device alone: which devices it talks to, and which root it follows.
extension MembershipStore {
  /// Exchanges nothing with a member from now on, or again. Only this device is concerned, and no
  /// other learns of it. Throws `notAMember`, and `anotherAdminNeeded` for this device itself.
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

  /// The same, the latest first.
  public func formerIDsLatestFirst() throws -> [String] {
    try DeviceList.formerly.inOrder(in: folder).reversed()
  }

  /// Begins the membership anew: a root of this device's key, of which it is the only member. What
  /// was there is kept beside it, as `membership-` and the beginning of the old notebook ID.
  ///
  /// The history is not concerned. A device that wants to keep exchanging it joins by a code.
  public static func renew(
    in folder: String, deviceName: String, key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> MembershipStore {
    try replace(in: folder, formerly: []) { old, temporary in
      try found(
        in: temporary, notebookName: old.notebookName, deviceName: deviceName, key: key,
        continuing: old, now: now)
    }
  }

  /// The member who began this notebook's membership anew with that root: an admin, by what this device
  /// knows, and only if the root itself says so (notes-security(7), BEGINNING ANEW). Nil if nothing proves
  /// it. Throws `certificateRefused`.
  public func founder(ofRenewal root: [UInt8]) throws -> Member? {
    let new = try CertificateSet(root: root).root
    guard new.continued == notebookID else { return nil }
    return members().first {
      $0.deviceID == new.deviceID && $0.role == .admin && !$0.isRemoved && !$0.isBlocked
    }
  }

  /// Takes over the membership of a notebook that was begun anew elsewhere, in place of the one
  /// here; `formerly` are the IDs that it had. Throws as `install`.
  public static func replace(
    in folder: String, root: [UInt8], certificates: [[UInt8]], revocations: [[UInt8]],
    formerly: [String]
  ) throws -> MembershipStore {
    // A run that was killed had come so far.
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
    // The decisions of this device stay its own.
    for list in [DeviceList.blocked, .renewal] {
      let own = try list.read(in: folder)
      if !own.isEmpty { try list.write(own, in: new.folder) }
    }
    try StoreFolder.replace(folder, by: new.folder, aside: old.folderAside)
    return try open(in: folder)
  }

  /// Each ID once, where it stands last.
  private static func latestLast(_ ids: [String]) -> [String] {
    var seen: Set<String> = []
    return ids.reversed().filter { seen.insert($0).inserted }.reversed()
  }

  /// Keeps the IDs that the notebook had, oldest first, as the device that invited this one told them.
  public func recordFormerIDs(_ formerly: [String]) throws {
    let known = try DeviceList.formerly.inOrder(in: folder)
    let new = formerly.filter { DeviceList.isID($0) && $0 != notebookID && !known.contains($0) }
    if !new.isEmpty {
      try DeviceList.formerly.write(inOrder: Self.latestLast(new + known), in: folder)
    }
  }

  /// Keeps the membership before this one where the process was killed that put it aside.
  func finishReplacing() throws {
    try StoreFolder.finishPuttingAside(folder) { root in
      let id = try Self.notebookID(ofRoot: root)
      guard id != notebookID, try formerIDs().contains(id) else { return nil }
      return "\(folder)-\(id.prefix(8))"
    }
  }

  /// Puts aside what is stored, as `membership-` and the beginning of the notebook ID: for what was
  /// left by a joining that was broken off. The value is of no use after that.
  public func putAside() throws {
    try Disk.rename(folder, to: folderAside)
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  private var folderAside: String { "\(folder)-\(notebookID.prefix(8))" }
}
