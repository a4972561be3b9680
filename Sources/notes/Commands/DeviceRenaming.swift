internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

/// Renames this device in the notebooks that are here: notes-config(1), device-name.
struct DeviceRenaming {
  /// The names of the notebooks that use the new name now.
  private(set) var done: [String] = []
  /// For each other notebook, how the device is renamed there.
  private(set) var left: [String] = []

  /// Renames the device wherever this is allowed.
  init(to name: String) throws {
    for folder in KnownNotebooks(dataFolder: try UserFolders().data).folders() {
      // A notebook that is unavailable, or cannot be opened, is skipped.
      guard let notebook = try? Notebook.open(at: folder),
        notebook.identity.device.name != name
      else { continue }
      try rename(in: notebook, to: name)
    }
  }

  private mutating func rename(in notebook: Notebook, to name: String) throws {
    let context = try notebook.sessionContext()
    let (membership, device) = (context.membership, context.key.deviceID)
    let members = membership.members()
    let title = Visible.name(notebook.identity.name)
    guard let own = members.first(where: { $0.deviceID == device && !$0.isRemoved }) else {
      // The device requests this name when it joins.
      if !members.contains(where: { $0.deviceID == device }) { try notebook.rename(device: name) }
      return
    }
    if let other = members.taking(name, from: own) {
      left.append(
        "In \(title) another device already has the name \(Visible.name(other.name)): this one "
          + "stays \(Visible.name(own.name)).")
      return
    }
    do {
      if own.deviceName != name {
        try membership.reissue(device: device, name: name, by: context.key)
      }
    } catch MembershipError.anotherAdminNeeded, MembershipError.notAnAdmin {
      let admins = members.filter {
        $0.role == .admin && !$0.isRemoved && $0.deviceID != device
      }
      let names = Phrase.list(admins.map { Visible.name($0.name) }, "or")
      left.append(
        "In \(title) it is still \(Visible.name(own.name)): \(names.isEmpty ? "an admin" : names) "
          + "renames it with 'notes members rename \(Visible.word(own.name)) \(Visible.word(name))'."
      )
      return
    }
    // Versions made here have the new name from now on.
    try notebook.rename(device: name)
    done.append(notebook.identity.name)
  }
}
