internal import ArgumentParser
internal import Exchange
internal import History
internal import Membership
internal import Notebook

struct DeviceRenewCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "renew", abstract: "Make a new device key for this machine.",
    discussion: """
      Use it if another machine has the same key, because a disk was cloned or a backup was \
      restored beside the original. Run it on one of the two. The other one keeps the former key.

      If this device is an admin, the former key certifies the new one. Otherwise an admin does, \
      with 'notes members certify NAME' after a sync with this device; until then notebooks \
      continue with the former key. Other notebooks follow when they are next synced or watched.

      Examples:
        notes device renew
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let folder = try UserFolders().data
    // The command may be run outside of a notebook.
    let notebook = try? NotebookLocator.notebook()
    guard let present = try DeviceKey.load(in: folder) else { throw DeviceCommand.noKey }
    let own = notebook?.identity.device.deviceID
    let isUnderWay = try own.map { id in
      try id != present.deviceID && DeviceKey.load(id, in: folder) != nil
    }
    let key = isUnderWay == true ? present : try DeviceKey.renew(in: folder) ?? present
    let context = try notebook?.sessionContext()
    let isCertified = context.map { $0.request == nil }
    options.tell(
      [
        "type": "renewed", "device": key.deviceID,
        "former": isUnderWay == true ? own : present.deviceID,
        "notebook": notebook?.identity.id, "name": notebook?.identity.device.name,
        "certified": isCertified,
      ],
      """
      This machine has a key of its own: device \(key.deviceID.prefix(8)).
      \(notebook.map { words(for: $0, context) } ?? "Notebooks use the new key from their next "
        + "sync on.")
      """)
  }

  private func words(for notebook: Notebook, _ context: SessionContext?) -> String {
    let name = Visible.name(notebook.identity.device.name)
    guard context?.request != nil else {
      return "It is called \(name) in \(Visible.name(notebook.identity.name)); other devices learn "
        + "the new name at their next sync."
    }
    return
      "After its next sync an admin must certify it: \(OwnMembership(of: notebook).certifying)"
  }
}
