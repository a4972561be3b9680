internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

struct EditCommand: Verb {
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

  @Argument(help: ArgumentHelp("The note.", valueName: "note"))
  var note: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    do {
      let path = try Place.noteOnly(note, in: notebook)
      try Self.edit(path, in: notebook, json: format.json)
    } catch NotebookError.noSuchNote(let name) {
      let path = try notebook.path(titled: note, in: Place.currentFolder(in: notebook))
      guard Console.canAsk, Self.isWanted(name, in: notebook) else {
        throw Failure(
          .failed, "no_such_note", "there is no note '\(Visible.name(name))'",
          hint: "'notes new \(Visible.word(name)) --edit' makes it, 'notes list' lists the notes",
          name: name)
      }
      try Self.write(path, anySuffix: true, in: notebook, json: format.json)
    }
    return .done
  }

  /// Asks whether to make a note; where one of nearly that title is there, that is more likely meant.
  private static func isWanted(_ name: String, in notebook: Notebook) -> Bool {
    let shown = Visible.name(name)
    guard let near = NearNames(name, in: notebook).titles() else {
      return Console.confirm("There is no note '\(shown)'. Make it?")
    }
    return Console.confirm(
      "There is no note '\(shown)', but \(near). Make '\(shown)'?", byDefault: false)
  }

  /// Lets the user edit a note that is there.
  private static func edit(_ path: TreePath, in notebook: Notebook, json: Bool) throws {
    if try notebook.workTree.sparseFiles().contains(path) {
      throw Failure(
        .failed, "not_in_folder",
        "\(Visible.name(path)) is not in this folder: \(SkipReason.sparse.words)",
        hint: "rename it: 'notes mv \(Visible.word(path.description)) NEW'")
    }
    let editor = try Editor.find()
    let presence = EditingPresence(of: path, in: notebook)
    presence.warn()
    try editor.edit(file(path, in: notebook))
    withExtendedLifetime(presence) {}
    try save(path, in: notebook, as: .edit, json: json)
  }

  /// Lets the user write a note that is not there yet.
  static func write(
    _ path: TreePath, anySuffix: Bool, in notebook: Notebook, json: Bool
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
    try save(path, in: notebook, as: .create, json: json)
  }

  private static func file(_ path: TreePath, in notebook: Notebook) -> [UInt8] {
    Array((notebook.folder + "/").utf8) + path.bytes
  }

  private static func save(
    _ path: TreePath, in notebook: Notebook, as operation: OperationKind, json: Bool
  ) throws {
    let saved = try notebook.save(only: [path], operation: operation)
    let isNew = operation == .create
    NoteReport(
      type: isNew ? "created" : "edited", word: isNew ? "Added" : "Saved", path: path,
      version: saved.version
    ).print(json: json)
    if !saved.skipped.isEmpty, !json {
      let reason = saved.skipped.first { $0.path == path }?.reason.words
      if let reason { Output.standard.line("It is not versioned: \(reason).") }
    }
    BackgroundTidying.startIfDue(in: notebook)
  }
}
