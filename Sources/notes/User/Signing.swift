internal import Exchange
internal import Notebook

extension VersionSigner {
  /// Signs with this user's device key, which is read when the first version is made.
  static let ofUser = VersionSigner(keysIn: try UserFolders().data)
}
