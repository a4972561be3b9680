internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct MoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "mv",
    abstract: "Rename a note, or move it to another folder.",
    discussion: """
      TITLE alone renames the note where it is; with folders before it, seen from the current one, \
      or as a folder with a slash at its end, it moves. A folder is renamed or moved with all that is versioned in it. The \
      history follows the note, on all devices.

      Examples:
        notes mv Rome Roma
        notes mv Rome trips/Rome
        notes mv Rome trips/
        notes mv trips/Rome ./Rome
        notes mv trips/ travels
      """)

  @Argument(help: .named("note", "The note or folder."), completion: LiveCompletion.notesAndFolders)
  var note: String

  @Argument(help: .named("title", "What to call it."), completion: .directory)
  var title: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let item = try NotebookLocator.item(note, in: notebook)
    let target = try target(of: item, in: notebook)
    let done = try DeletionOption.foundBefore {
      switch item {
      case .note(let path): try notebook.rename(path, to: target)
      case .folder(let path): try notebook.rename(folder: path, to: target)
      }
    }
    let (old, new) = (Visible.name(item.path), Visible.name(target))
    var sentence = "\(new) already has that name."
    if let version = done.version {
      let slash = item == .folder(item.path) ? "/" : ""
      let count = slash.isEmpty ? "" : " with \(Phrase.count(done.files.count, "file"))"
      sentence =
        "Renamed \(old)\(slash) to \(new)\(slash)\(count): version \(Console.output.paint(version))"
    }
    options.tell(
      [
        "type": "renamed",
        "renamed": done.files.map { ["from": $0.old, "to": $0.new] as JSON },
        "version": done.version,
      ], sentence)
  }

  private func target(of item: Item, in notebook: Notebook) throws -> TreePath {
    let here = NotebookLocator.currentFolder(in: notebook)
    let suffix =
      switch item {
      case .folder: ""
      case .note(let path): path.noteSuffix
      }
    guard title.hasSuffix("/") else {
      let folder = title.contains("/") ? here : item.path.parent ?? ""
      return try notebook.path(titled: title, in: folder, suffix: suffix)
    }
    if let folder = NotebookLocator.folderOrTop(named: title, in: notebook) {
      return folder.appending(item.path.name)
    }
    var name = title
    while name.hasSuffix("/") { name.removeLast() }
    let folder = try notebook.path(titled: name, in: here, suffix: "")
    if case .folder = item { return folder }
    return folder.appending(item.path.name)
  }
}
