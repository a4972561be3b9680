internal import CLinux
internal import Glibc
internal import Synchronization
public import System

// What this device decides for itself: whom it talks to, and which root it follows.
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

  /// Begins the membership anew: a root of this device's key, of which it is the only member. What
  /// was there is kept beside it, as `membership-` and the beginning of the old notebook ID.
  ///
  /// The history is not concerned. Whoever is to go on exchanging it joins by a code.
  public static func renew(
    in folder: String, deviceName: String, key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> MembershipStore {
    try replace(in: folder, formerly: []) { old, temporary in
      try found(
        in: temporary, notebookName: old.notebookName, deviceName: deviceName, key: key,
        continuing: old, now: now)
    }
  }

  /// Who began this notebook's membership anew with that root: an admin, by what this device knows,
  /// and only if the root itself says so (notes-security(7), BEGINNING ANEW). Nil where nothing
  /// proves it. Throws `certificateRefused`.
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
    formerly: Set<String>
  ) throws -> MembershipStore {
    try replace(in: folder, formerly: formerly) { _, temporary in
      try install(in: temporary, root: root, certificates: certificates, revocations: revocations)
    }
  }

  private static func replace(
    in folder: String, formerly: Set<String>,
    make: (_ old: MembershipStore, _ temporary: String) throws -> MembershipStore
  ) throws -> MembershipStore {
    let old = try open(in: folder)
    let new = try make(old, Disk.unique(beside: folder))
    try DeviceList.formerly.write(
      try old.formerIDs().union(formerly).union([old.notebookID]).subtracting([new.notebookID]),
      in: new.folder)
    // Swaps the folders in one step, so that there is a membership at every moment.
    let aside = old.folderAside
    if notes_renameat2(AT_FDCWD, new.folder, AT_FDCWD, folder, UInt32(NOTES_RENAME_EXCHANGE)) == 0 {
      try Disk.rename(new.folder, to: aside)
    } else {
      // A file system without exchange.
      try Disk.rename(folder, to: aside)
      try Disk.rename(new.folder, to: folder)
    }
    try Disk.sync(folder: Disk.parent(of: folder))
    return try open(in: folder)
  }

  /// Keeps the IDs that the notebook had, as the device that invited this one told them.
  public func noteFormerIDs(_ formerly: Set<String>) throws {
    let known = try formerIDs()
    let all = known.union(formerly.filter(DeviceList.isID)).subtracting([notebookID])
    if all != known { try DeviceList.formerly.write(all, in: folder) }
  }

  /// Puts aside what is stored, as `membership-` and the beginning of the notebook ID: for what was
  /// left by a joining that was broken off. The value is of no use after that.
  public func putAside() throws {
    try Disk.rename(folder, to: folderAside)
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  private var folderAside: String { "\(folder)-\(notebookID.prefix(8))" }
}
