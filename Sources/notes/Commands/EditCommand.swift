internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

struct EditCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Edit notes, and save them as a version.",
    discussion: """
      Opens the notes in $VISUAL or $EDITOR, or else in nano or vi, and saves them as a version \
      when the editor ends. If edits of other devices arrive in the meantime, notes merges them. If \
      a note does not exist, edit offers to make it.

      Examples:
        notes edit Shopping
        notes edit Shopping 'trips/*'
        EDITOR='code --wait' notes edit 'Summer plan'
      """)

  @Argument(help: .named("note", "The notes."), completion: LiveCompletion.notes)
  var notes: [String]

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    var found: [EditedNote] = []
    for note in try notes.flatMap({ try Self.notes(named: $0, in: notebook) })
    where !found.contains(where: { $0.path == note.path }) { found.append(note) }
    try NoteEditing(notebook: notebook, options: options).edit(found)
  }

  private static func notes(named name: String, in notebook: Notebook) throws -> [EditedNote] {
    do {
      return try NotebookLocator.items([name], in: notebook).map { item in
        if item.isFolder { throw Failure.folder(item.path) }
        return EditedNote(path: item.path)
      }
    } catch WorkTreeError.noSuchNote(let missing) {
      let path = try notebook.path(titled: name, in: NotebookLocator.currentFolder(in: notebook))
      guard Console.canAsk, try isWanted(missing, in: notebook) else {
        throw Failure(
          .failed, "no_such_note", "there is no note '\(Visible.name(missing))'",
          hint:
            "'notes new \(Visible.word(missing)) --edit' makes it, 'notes list' lists the notes",
          name: missing)
      }
      return [EditedNote(path: path, creation: .anySuffix)]
    }
  }

  /// Asks whether to make a note; if one has a similar title, it is offered instead.
  private static func isWanted(
    _ name: String, in notebook: Notebook
  ) throws(Failure) -> Bool {
    let shown = Visible.name(name)
    guard let near = NearNames.titles(near: name, in: notebook)
    else { return try Console.confirm("No note '\(shown)'. Create it?") }
    return try Console.confirm(
      "No note '\(shown)'. Did you mean \(near)? Create '\(shown)'?", byDefault: false)
  }
}

/// A note to open in an editor.
struct EditedNote {
  let path: TreePath
  /// Which notes must not exist when the editor makes this one; nil for an existing note.
  var creation: Creation?

  enum Creation {
    /// No note with any suffix may have its title.
    case anySuffix
    case thisSuffix
  }
}

/// Runs the user's editor on some notes, and makes the version with its changes.
struct NoteEditing {
  let notebook: Notebook
  let options: CommonOptions

  func edit(_ notes: [EditedNote]) throws {
    for note in notes where note.creation == nil {
      // If there is a link in the note's place, the editor must not open it instead of the note.
      if let absent = try notebook.workTree.absence(of: note.path) {
        throw Failure(.failed, "not_in_folder", absent.absence, hint: absent.remedy)
      }
    }
    let editor = try Editor.find()
    let before = try notebook.state().tip
    let made = notes.filter { $0.creation != nil }
    // Empty folders that remain do no harm.
    defer { for note in made { try? notebook.abandonFolder(for: note.path) } }
    for note in made {
      try notebook.prepareFolder(for: note.path, anySuffix: note.creation == .anySuffix)
    }
    // A failure to record this only means that the notes are shown as new again.
    try? ReadMarks(in: notebook.history).markRead(notes.map(\.path))
    let paths = notes.filter { $0.creation == nil }.map(\.path)
    let watcher = try announceEdit(of: paths)
    let run = notebook.beginEdit(of: paths)
    try withExtendedLifetime(run) {
      try editor.edit(notes.map { Array((notebook.folder + "/").utf8) + $0.path.bytes })
      withExtendedLifetime(watcher) {}
      try save(notes, since: before)
    }
  }

  /// Tells other devices of the edit while the connection lasts, and warns if others are editing the note. On a
  /// terminal, it warns before the editor covers the screen.
  private func announceEdit(of paths: [TreePath]) throws -> ControlClient? {
    if paths.isEmpty { return nil }
    let peers = RunningWatcher.status(of: notebook)?.peers ?? []
    let connection = RunningWatcher.of(notebook)
    _ = connection?.ask(.edit(paths: paths))
    var isShared = false
    for path in paths {
      let others = peers.filter { $0.shows.editing.contains(path) }
      if others.isEmpty { continue }
      isShared = true
      let names = Phrase.list(others.map { Visible.name($0.identity.name) })
      Output.errors.line(
        "notes: warning: \(path.label) is open on \(names) as well; both edits will be merged")
    }
    Output.errors.flush()
    if isShared, Console.canAsk { try Console.waitForEnter("Press Enter to edit it anyway.") }
    return connection
  }

  /// The authors of edits merged while the editor ran, and the command that shows these edits.
  private static func sentence(
    mergedWith others: [String], _ path: TreePath, since before: ObjectID?
  ) -> String {
    guard !others.isEmpty, let before else { return "" }
    let names = Phrase.list(others.map { Visible.name($0) })
    return "\nMerged with edits from \(names) that arrived in the meantime: 'notes diff "
      + "\(Visible.word(path.noteTitle)) \(before.short)' shows it"
  }

  /// A watcher may have saved the notes first: `before` is the tip at the start of the edit.
  private func save(_ notes: [EditedNote], since before: ObjectID?) throws {
    let written = try notes.filter { try $0.creation == nil || notebook.isThere($0.path) }
    for note in notes where !written.contains(where: { $0.path == note.path }) && !written.isEmpty {
      Output.errors.line(
        "notes: warning: you wrote nothing to \(Visible.name(note.path)), so it was not made")
    }
    guard !written.isEmpty else {
      throw Failure(
        .failed, "nothing_written", "you wrote nothing, so no note was made",
        hint: "write the file in the editor before you leave it")
    }
    let isNew = written.allSatisfy { $0.creation != nil }
    let saved = try notebook.save(only: written.map(\.path), operation: isNew ? .create : .edit)
    for note in written {
      let isInIt = saved.changes.contains { $0.path == note.path }
      let version =
        try isInIt ? saved.version : notebook.ownVersion(of: note.path, since: before)
      let reason = saved.skipped.first { $0.path == note.path }?.reason.words
      let others =
        try note.creation == nil ? notebook.otherWriters(of: note.path, since: before) : []
      options.tell(
        [
          "type": note.creation != nil ? "created" : "edited", "path": note.path,
          "version": version,
          "merged_with": others,
        ],
        (reason.map { "\(Visible.name(note.path)) is not versioned: \($0)." }
          ?? NewCommand.sentence(note.creation != nil ? "Added" : "Saved", note.path, version))
          + Self.sentence(mergedWith: others, note.path, since: before))
    }
    BackgroundGC.startIfDue(in: notebook)
  }
}
