internal import History
internal import Membership
internal import Notebook
internal import Sync

// Who this device is in a notebook.
extension Notebook {
  /// What sessions of the notebook need: the key, and what is known of the members.
  func sessionContext() throws -> SessionContext {
    let folder = try UserFolders().data
    guard let key = try DeviceKey.load(in: folder), key.deviceID == identity.device.deviceID else {
      throw Failure(
        .failed, "other_device", "this notebook was made or joined with another device key",
        hint: "the key belongs in \(Visible.name(folder)); XDG_DATA_HOME and HOME say where that is"
      )
    }
    return SessionContext(folder: self.folder, key: key, membership: try membership())
  }

  func membership() throws -> MembershipStore {
    try MembershipStore.open(in: stateFolder + "/membership")
  }
}
