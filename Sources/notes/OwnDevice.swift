internal import History
internal import Membership
internal import Notebook
internal import Sync

/// Who this device is in a notebook.
enum OwnDevice {
  /// What sessions of the notebook at hand need: the key, and what is known of the members.
  static func context(in notebook: Notebook) throws -> SessionContext {
    let folder = try UserFolders().data
    guard let key = try DeviceKey.load(in: folder),
      key.deviceID == notebook.identity.device.deviceID
    else {
      throw Failure(
        .failed, "other_device", "this notebook was made or joined with another device key",
        hint: "the key belongs in \(Visible.name(folder)); XDG_DATA_HOME and HOME say where that is"
      )
    }
    return SessionContext(
      folder: notebook.folder, key: key, membership: try membership(of: notebook))
  }

  /// The members as this device knows them.
  static func membership(of notebook: Notebook) throws -> MembershipStore {
    try MembershipStore.open(in: notebook.stateFolder + "/membership")
  }
}
