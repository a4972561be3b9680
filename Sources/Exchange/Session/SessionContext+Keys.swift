internal import History
internal import Membership
public import Notebook

extension SessionContext {
  /// That of a notebook, with the key of this device that it goes by, from the folder of its user's keys; nil
  /// where that key is not there. Where the user has a new key, the notebook goes over to it, or asks for
  /// its certificate: notes-device(1), `renew`.
  public init?(of notebook: Notebook, keysIn folder: String) throws {
    guard let key = try DeviceKey.load(notebook.identity.device.deviceID, in: folder),
      let present = try DeviceKey.load(in: folder)
    else { return nil }
    let membership = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder))
    try notebook.finishBeginningAnew(membership)
    if key.deviceID == present.deviceID {
      self.init(folder: notebook.folder, key: key, membership: membership)
      return
    }
    let request = try KeyRenewal(of: notebook, membership, from: key, to: present).carryOut()
    self.init(
      folder: notebook.folder, key: request == nil ? present : key, membership: membership,
      request: request)
  }
}

extension Notebook {
  /// Goes by its membership, where a run was killed between that and what the notebook is called by it.
  func finishBeginningAnew(_ membership: MembershipStore) throws {
    guard membership.notebookID != identity.id, try membership.formerIDs().contains(identity.id)
    else { return }
    try become(membership.notebookID, named: membership.notebookName)
  }
}
