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

  /// The members that names on a command line mean: each a device's name, or the beginning of its
  /// ID.
  static func members(
    named names: [String], in membership: MembershipStore, except own: String
  ) throws(Failure) -> [Member] {
    let others = membership.members().filter { !$0.isRemoved && $0.deviceID != own }
    var found: [Member] = []
    for name in names {
      var matches = others.filter { $0.name == name }
      if matches.isEmpty {
        let folded = name.lowercased()
        matches = others.filter {
          $0.name.lowercased() == folded
            || (folded.count >= 4 && $0.deviceID.lowercased().hasPrefix(folded))
        }
      }
      guard !matches.isEmpty else {
        let nearest = Similarity.nearest(to: name, among: others.map(\.name))
        throw Failure(
          .failed, "no_such_member", "no member is called '\(Visible.name(name))'",
          hint: nearest.map { "did you mean '\(Visible.name($0))'?" }
            ?? "'notes members' lists them")
      }
      guard matches.count == 1 else {
        throw Failure(
          .failed, "ambiguous_member", "several members are called '\(Visible.name(name))'",
          hint: "write the beginning of the device ID instead: 'notes members' shows it")
      }
      found += matches
    }
    return found
  }
}
