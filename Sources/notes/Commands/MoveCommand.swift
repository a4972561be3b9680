internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct MoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "mv", abstract: "Rename a note, or move it to another folder.",
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

  @Argument(help: .named("title", "What to call it."), completion: .directory) var title: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let item = try NotebookLocator.item(note, in: notebook)
    let target = try target(of: item, in: notebook)
    let done = try DeletionOption.foundBefore {
      try item.isFolder
        ? notebook.rename(folder: item.path, to: target) : notebook.rename(item.path, to: target)
    }
    let (old, new) = (Visible.name(item.path), Visible.name(target))
    var sentence = "\(new) already has that name."
    if let version = done.version {
      let slash = item.isFolder ? "/" : ""
      let count = slash.isEmpty ? "" : " with \(Phrase.count(done.files.count, "file"))"
      sentence =
        "Renamed \(old)\(slash) to \(new)\(slash)\(count): version \(Console.output.paint(version))"
    }
    options.tell(
      [
        "type": "renamed", "renamed": done.files.map { ["from": $0.old, "to": $0.new] as JSON },
        "version": done.version,
      ], sentence)
  }

  private func target(of item: Item, in notebook: Notebook) throws -> TreePath {
    let here = NotebookLocator.currentFolder(in: notebook)
    guard title.hasSuffix("/") else {
      let folder = title.contains("/") ? here : item.path.parent ?? ""
      return try notebook.path(
        titled: title, in: folder, suffix: item.isFolder ? "" : item.path.noteSuffix)
    }
    if let folder = NotebookLocator.folderOrTop(named: title, in: notebook) {
      return folder.appending(item.path.name)
    }
    var name = title
    while name.hasSuffix("/") { name.removeLast() }
    let folder = try notebook.path(titled: name, in: here, suffix: "")
    return item.isFolder ? folder : folder.appending(item.path.name)
  }
}

struct RemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Delete notes; their texts stay in the history.",
    discussion: """
      Deletes notes, or folders with all that is versioned in them, here and with the next sync on \
      the other devices. 'notes undo' undoes that, and 'notes restore NOTE' brings a deleted \
      note back at any time.

      Examples:
        notes rm Shopping
        notes rm 'Old plan' trips/
      """)

  @Argument(
    help: .named("note", "The notes or folders."), completion: LiveCompletion.notesAndFolders)
  var notes: [String]

  @OptionGroup var deletions: DeletionOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let paths = try NotebookLocator.items(notes, in: notebook).map(\.path)
    // All of it is never meant by a dot.
    if paths.contains(where: \.isEmpty) { throw NotebookError.noSuchNote(".") }
    let removal = try deletions.guarded { try notebook.delete(paths, allowsMassDeletion: $0) }
    options.write([["type": "deleted", "paths": removal.paths, "version": removal.version]]) {
      guard let version = removal.version else { return "" }
      let count = removal.paths.count
      let names = removal.paths.prefix(3).map { Visible.name($0) }
      let rest = count > 3 ? [Phrase.count(count - 3, "other file")] : []
      return $0.wrapped(
        "Deleted \(Phrase.list(names + rest)): version \($0.paint(version)); "
          + "'notes undo' undoes it\n")
    }
  }
}
