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
      try DeviceList.write(blocked, to: "\(folder)/\(DeviceList.blocked)")
      state.blocked = blocked
    }
  }

  /// The IDs that the notebook had before, as far as this device knows.
  public func formerIDs() throws -> Set<String> {
    try DeviceList.read("\(folder)/\(DeviceList.formerly)")
  }

  /// Begins the membership anew: a root of this device's key, of which it is the only member. What
  /// was there is kept beside it, as `membership-` and the beginning of the old notebook ID.
  ///
  /// The history is not concerned. Whoever is to go on exchanging it joins by a code.
  public static func renew(
    in folder: String, deviceName: String, key: DeviceKey, now: Int64 = WallClock.now()
  ) throws -> MembershipStore {
    let old = try open(in: folder)
    let temporary = Disk.unique(beside: folder)
    let new = try found(
      in: temporary, notebookName: old.notebookName, deviceName: deviceName, key: key, now: now)
    try DeviceList.write(
      try old.formerIDs().union([old.notebookID]), to: "\(new.folder)/\(DeviceList.formerly)")
    try replace(folder, of: old.notebookID, with: temporary)
    return try open(in: folder)
  }

  /// Takes over the membership of a notebook that was begun anew elsewhere, in place of the one
  /// here; `formerly` are the IDs that it had. Throws as `install`.
  public static func replace(
    in folder: String, root: [UInt8], certificates: [[UInt8]], revocations: [[UInt8]],
    formerly: Set<String>
  ) throws -> MembershipStore {
    let old = try open(in: folder)
    let temporary = Disk.unique(beside: folder)
    let new = try install(
      in: temporary, root: root, certificates: certificates, revocations: revocations)
    try DeviceList.write(
      try old.formerIDs().union(formerly).union([old.notebookID]).subtracting([new.notebookID]),
      to: "\(new.folder)/\(DeviceList.formerly)")
    try replace(folder, of: old.notebookID, with: temporary)
    return try open(in: folder)
  }

  /// Notes the IDs that the notebook had, as the device that invited this one told them.
  public func noteFormerIDs(_ formerly: Set<String>) throws {
    let all = try formerIDs().union(formerly.filter(DeviceList.isID)).subtracting([notebookID])
    if try all != formerIDs() {
      try DeviceList.write(all, to: "\(folder)/\(DeviceList.formerly)")
    }
  }

  /// Puts aside what is stored, as `membership-` and the beginning of the notebook ID: for what was
  /// left by a joining that was broken off. The value is of no use after that.
  public func putAside() throws {
    try Disk.rename(folder, to: "\(folder)-\(notebookID.prefix(8))")
    try Disk.sync(folder: Disk.parent(of: folder))
  }

  /// Swaps the folders in one step, so that there is a membership at every moment, and keeps the old
  /// one.
  private static func replace(_ folder: String, of notebookID: String, with new: String) throws {
    let aside = "\(folder)-\(notebookID.prefix(8))"
    if notes_renameat2(AT_FDCWD, new, AT_FDCWD, folder, UInt32(NOTES_RENAME_EXCHANGE)) != 0 {
      // A file system without exchange.
      try Disk.rename(folder, to: aside)
      try Disk.rename(new, to: folder)
    } else {
      try Disk.rename(new, to: aside)
    }
    try Disk.sync(folder: Disk.parent(of: folder))
  }
}
