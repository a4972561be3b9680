internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

struct EditCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Edit a note, and make a version of it.",
    discussion: """
      Opens the note in $VISUAL or $EDITOR, or else in nano or vi, and makes a version of what it \
      wrote when it ends. Other devices' edits may arrive meanwhile: they are merged. A note that \
      does not exist can be made.

      Examples:
        notes edit Shopping
        EDITOR='code --wait' notes edit 'Summer plan'
      """)

  @Argument(help: .named("note", "The note."), completion: LiveCompletion.notes)
  var note: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    do {
      let path = try NotebookLocator.noteOnly(note, in: notebook)
      try edit(path, in: notebook)
    } catch NotebookError.noSuchNote(let name) {
      let path = try notebook.path(titled: note, in: NotebookLocator.currentFolder(in: notebook))
      guard Console.canAsk, Self.isWanted(name, in: notebook) else {
        throw Failure(
          .failed, "no_such_note", "there is no note '\(Visible.name(name))'",
          hint: "'notes new \(Visible.word(name)) --edit' makes it, 'notes list' lists the notes",
          name: name)
      }
      try Self.write(path, anySuffix: true, in: notebook, options)
    }
  }

  /// Asks whether to make a note; where one of nearly that title is there, that is more likely meant.
  private static func isWanted(_ name: String, in notebook: Notebook) -> Bool {
    let shown = Visible.name(name)
    guard let near = NearNames(name, in: notebook).titles() else {
      return Console.confirm("No note '\(shown)'. Create it?")
    }
    return Console.confirm(
      "No note '\(shown)'. Did you mean \(near)? Create '\(shown)'?", byDefault: false)
  }

  private func edit(_ path: TreePath, in notebook: Notebook) throws {
    if try notebook.workTree.sparseFiles().contains(path) {
      throw Failure(
        .failed, "not_in_folder",
        "\(Visible.name(path)) is not in this folder: \(SkipReason.sparse.words)",
        hint: "rename it: 'notes mv \(Visible.word(path.description)) NEW'")
    }
    let editor = try Editor.find()
    let presence = EditingPresence(of: path, in: notebook)
    presence.warn()
    try editor.edit(Self.file(path, in: notebook))
    withExtendedLifetime(presence) {}
    try Self.save(path, in: notebook, as: .edit, options)
  }

  static func write(
    _ path: TreePath, anySuffix: Bool, in notebook: Notebook, _ options: CommonOptions
  ) throws {
    let editor = try Editor.find()
    try notebook.prepareFolder(for: path, anySuffix: anySuffix)
    defer { try? notebook.abandonFolder(for: path) }
    try editor.edit(file(path, in: notebook))
    guard try notebook.isThere(path) else {
      throw Failure(
        .failed, "nothing_written", "nothing was written, and no note was made",
        hint: "write the file in the editor before you leave it")
    }
    try save(path, in: notebook, as: .create, options)
  }

  private static func file(_ path: TreePath, in notebook: Notebook) -> [UInt8] {
    Array((notebook.folder + "/").utf8) + path.bytes
  }

  private static func save(
    _ path: TreePath, in notebook: Notebook, as operation: OperationKind, _ options: CommonOptions
  ) throws {
    let saved = try notebook.save(only: [path], operation: operation)
    let isNew = operation == .create
    let reason = saved.skipped.first { $0.path == path }?.reason.words
    options.tell(
      ["type": isNew ? "created" : "edited", "path": path, "version": saved.version],
      NewCommand.sentence(isNew ? "Added" : "Saved", path, saved.version)
        + (reason.map { "\nIt is not versioned: \($0)." } ?? ""))
    BackgroundGC.startIfDue(in: notebook)
  }
}
