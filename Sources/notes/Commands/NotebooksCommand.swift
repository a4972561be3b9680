internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

struct NotebooksCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "notebooks", abstract: "List the notebooks on this device.",
    discussion: """
      Lists the notebooks that were made or joined here, with their folders, and those that this \
      device is a member of but does not have. 'notes config default FOLDER' sets the notebook that \
      commands use outside of any.

      Examples:
        notes notebooks
        notes notebooks --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let data = try UserFolders().data
    let folders = KnownNotebooks(dataFolder: data).folders()
    // Without a usable key, 'notes doctor' says why.
    let key = try? DeviceKey.load(in: data)
    let absent = try key.map { try CloneFromMember.absent(for: $0, in: data) } ?? []
    let chosen = try Setting.defaultNotebook.value()
    // An unavailable notebook has no identity, and is listed without it.
    let found = folders.map { (folder: $0, identity: try? Notebook.open(at: $0).identity) }
    let lines = found.map { folder, identity in
      [
        "type": "notebook", "notebook": identity?.id, "name": identity?.name, "path": folder,
        "state": identity == nil ? "away" : "here", "default": folder == chosen,
      ] as JSON
    }
    let others = absent.map { kept in
      [
        "type": "notebook", "notebook": kept.id, "name": kept.name, "path": nil as String?,
        "state": "absent", "default": false,
      ] as JSON
    }
    options.write(lines + others) { terminal in
      let next = String(DeviceCommand.next(absent).drop { $0 == "\n" })
      if found.isEmpty {
        return next.isEmpty ? "No notebook yet: 'notes init' makes one.\n" : next + "\n"
      }
      let rows = found.map { folder, identity in
        [
          Styled(identity.map { Visible.name($0.name) } ?? "away", identity == nil ? .dim : .bold),
          Styled(Visible.name(folder)), Styled(folder == chosen ? "default" : "", .dim),
        ]
      }
      return Table(flexible: 1, rows: rows).text(on: terminal)
        + (next.isEmpty ? "" : "\n\(next)\n")
    }
  }
}
