internal import Exchange
internal import Membership
internal import Notebook

extension VersionSigner {
  /// Signs with this user's device key, which is read when the first version is made.
  static let ofUser = VersionSigner { deviceID in
    guard let key = try DeviceKey.load(deviceID, in: UserFolders().data) else { return nil }
    return { try VersionSignature(over: $0, by: key).armored }
  }
}
