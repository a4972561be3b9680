internal import System

// Makes a new key for a machine if another machine also uses its key: notes-security(7).
extension DeviceKey {
  private static func formerPath(_ deviceID: String, in dataFolder: String) -> String {
    "\(dataFolder)/former-key-\(deviceID.prefix(8)).pem"
  }

  /// Makes a new key the device key of `dataFolder`. The former key is kept beside it: notebooks use it until
  /// an admin has certified the new key.
  ///
  /// - Returns: the new key; nil if there was no key.
  public static func renew(in dataFolder: String) throws -> DeviceKey? {
    guard let former = try load(in: dataFolder) else { return nil }
    // Store the former key before the new one: notebooks need the former key to reach their members.
    _ = try Disk.createSecret(formerPath(former.deviceID, in: dataFolder), former.pem())
    try Disk.replace("\(dataFolder)/\(fileName)", with: random().pem(), isShared: true)
    return try load(in: dataFolder)
  }

  /// The key with that device ID in `dataFolder`: the present one, or a former one; nil if there is
  /// neither.
  public static func load(_ deviceID: String, in dataFolder: String) throws -> DeviceKey? {
    if let key = try load(in: dataFolder), key.deviceID == deviceID { return key }
    let former = try read(formerPath(deviceID, in: dataFolder))
    return former?.deviceID == deviceID ? former : nil
  }

  /// The key with that device ID in the same folder; nil if there is none, or if this key is not
  /// stored.
  public func sibling(_ deviceID: String) throws -> DeviceKey? {
    try folder.flatMap { try DeviceKey.load(deviceID, in: $0) }
  }
}
