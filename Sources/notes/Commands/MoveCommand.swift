internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct MoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "mv", abstract: "Rename a note, or move notes to another folder.",
    discussion: """
      A plain TITLE renames the note in its folder. A title with folders before it, relative to \
      the current one, or a folder with a slash at its end, moves it. A folder is renamed or moved \
      with all its versioned files. Several notes, or those that match a pattern, move to a folder in \
      one version. The history follows the note, on all devices.

      Examples:
        notes mv Rome Roma
        notes mv Rome trips/Rome
        notes mv Rome trips/
        notes mv trips/Rome ./Rome
        notes mv trips/ travels
        notes mv 'Plan*' Shopping archive/
      """)

  @Argument(
    help: .named("note", "The notes or folders, and at the end the title or folder."),
    completion: LiveCompletion.notesAndFolders)
  var names: [String]

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if names.count < 2 {
      throw ValidationError("mv needs a note and its new title or folder.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let title = names.last ?? ""
    let items = try NotebookLocator.items(names.dropLast(), in: notebook)
    if let top = items.first(where: \.path.isEmpty) {
      throw WorkTreeError.noSuchNote(top.path.isEmpty ? "." : top.path.description)
    }
    if items.count > 1, !title.hasSuffix("/"),
      NotebookLocator.folderOrTop(named: title, in: notebook) == nil
    {
      throw Failure.usage(
        "\(Phrase.count(items.count, "note")) cannot all become '\(Visible.name(title))'",
        hint: "to name a folder, add a slash at its end: 'notes mv ... "
          + "\(Visible.word(title + "/"))'")
    }
    let target = items.count > 1 && !title.hasSuffix("/") ? title + "/" : title
    let moves = try items.map { item in
      let path = try Self.target(of: item, titled: target, in: notebook)
      return (item: item, move: NoteMove(item.path, to: path, isFolder: item.isFolder), to: path)
    }
    let message: String? = moves.count == 1 ? nil : "Move \(moves.count) notes to \(target)"
    let done = try DeletionOption.foundBefore {
      guard let message else {
        let (item, _, path) = moves[0]
        return try item.isFolder
          ? notebook.rename(folder: item.path, to: path) : notebook.rename(item.path, to: path)
      }
      return try notebook.rename(moves.map(\.move), message: message)
    }
    options.tell(
      [
        "type": "renamed", "renamed": done.files.map { ["from": $0.old, "to": $0.new] as JSON },
        "version": done.version,
      ], Self.sentence(moves.map { ($0.item, $0.to) }, done, target))
  }

  private static func sentence(
    _ moves: [(item: Item, new: TreePath)], _ done: Renaming, _ title: String
  ) -> String {
    guard let version = done.version else {
      return moves.count == 1
        ? "\(Visible.name(moves[0].new)) already has that name."
        : "All of them already have these names."
    }
    let told = "version \(Console.output.paint(version))"
    guard moves.count == 1, let (item, new) = moves.first else {
      return "Moved \(Phrase.count(done.files.count, "file")) to \(Visible.name(title)): \(told)"
    }
    let slash = item.isFolder ? "/" : ""
    let count = item.isFolder ? " with \(Phrase.count(done.files.count, "file"))" : ""
    return
      "Renamed \(Visible.name(item.path))\(slash) to \(Visible.name(new))\(slash)\(count): \(told)"
  }

  private static func target(
    of item: Item, titled title: String, in notebook: Notebook
  ) throws -> TreePath {
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
      Deletes notes, or folders with all their versioned files, here now and on the other devices at \
      the next sync. 'notes undo' undoes that, and 'notes restore NOTE' brings a deleted note back at \
      any time.

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
    // A dot never means the whole notebook here.
    if paths.contains(where: \.isEmpty) { throw WorkTreeError.noSuchNote(".") }
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
