internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct NotebooksCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "notebooks", abstract: "List the notebooks on this device.",
    discussion: """
      Those that were made or joined here, with their folders. 'notes config default FOLDER' says \
      which one commands use outside of any.

      Examples:
        notes notebooks
        notes notebooks --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let folders = KnownNotebooks(dataFolder: try UserFolders().data).folders()
    let chosen = try Setting.defaultNotebook.value()
    // An unavailable notebook has no identity, and is listed without it.
    let found = folders.map { (folder: $0, identity: try? Notebook.open(at: $0).identity) }
    let lines = found.map { folder, identity in
      [
        "type": "notebook", "notebook": identity?.id, "name": identity?.name, "path": folder,
        "state": identity == nil ? "away" : "here", "default": folder == chosen,
      ] as JSON
    }
    options.write(lines) { terminal in
      if found.isEmpty { return "No notebook yet: 'notes init' makes one.\n" }
      let rows = found.map { folder, identity in
        [
          Styled(identity.map { Visible.name($0.name) } ?? "away", identity == nil ? .dim : .bold),
          Styled(Visible.name(folder)), Styled(folder == chosen ? "default" : "", .dim),
        ]
      }
      return Table(flexible: 1, rows: rows).text(on: terminal)
    }
  }
}
