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
    commandName: "edit", abstract: "Edit a note, and make a version of it.",
    discussion: """
      Opens the note in $VISUAL or $EDITOR, or else in nano or vi, and makes a version of what it \
      wrote when it ends. Other devices' edits may arrive meanwhile: they are merged. A note that \
      does not exist can be made.

      Examples:
        notes edit Shopping
        EDITOR='code --wait' notes edit 'Summer plan'
      """)

  @Argument(help: .named("note", "The note."), completion: LiveCompletion.notes) var note: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    do {
      try Self.edit(NotebookLocator.noteOnly(note, in: notebook), in: notebook, options)
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
    guard let near = NearNames.titles(near: name, in: notebook)
    else { return Console.confirm("No note '\(shown)'. Create it?") }
    return Console.confirm(
      "No note '\(shown)'. Did you mean \(near)? Create '\(shown)'?", byDefault: false)
  }

  static func edit(
    _ path: TreePath, in notebook: Notebook, _ options: CommonOptions
  ) throws {
    // A link that stands in a note's place is not opened in its stead.
    if let absent = try notebook.workTree.absence(of: path) {
      throw Failure(.failed, "not_in_folder", absent.absence, hint: absent.remedy)
    }
    let editor = try Editor.find()
    let before = try notebook.state().tip
    let watcher = try announceEdit(of: path, in: notebook)
    try editor.edit(file(path, in: notebook))
    withExtendedLifetime(watcher) {}
    try save(path, in: notebook, as: .edit, since: before, options)
  }

  /// Tells other devices of the edit while the connection lasts, and warns where others are in it: on a
  /// terminal before the editor hides that.
  private static func announceEdit(
    of path: TreePath, in notebook: Notebook
  ) throws -> ControlClient? {
    let peers = RunningWatcher.status(of: notebook)?.peers ?? []
    let others = peers.filter { $0.shows.editing.contains(path) }
    let connection = RunningWatcher.of(notebook)
    _ = connection?.ask(.edit(paths: [path]))
    if !others.isEmpty {
      let names = Phrase.list(others.map { Visible.name($0.identity.name) })
      Output.errors.line(
        "notes: warning: \(path.label) is open on \(names), too; both edits will be merged")
      Output.errors.flush()
      if Console.canAsk { try Console.waitForEnter("Press Enter to edit it all the same.") }
    }
    return connection
  }

  static func write(
    _ path: TreePath, anySuffix: Bool, in notebook: Notebook, _ options: CommonOptions
  ) throws {
    let editor = try Editor.find()
    let before = try notebook.state().tip
    try notebook.prepareFolder(for: path, anySuffix: anySuffix)
    defer { try? notebook.abandonFolder(for: path) }
    try editor.edit(file(path, in: notebook))
    guard try notebook.isThere(path) else {
      throw Failure(
        .failed, "nothing_written", "nothing was written, and no note was made",
        hint: "write the file in the editor before you leave it")
    }
    try save(path, in: notebook, as: .create, since: before, options)
  }

  private static func file(_ path: TreePath, in notebook: Notebook) -> [UInt8] {
    Array((notebook.folder + "/").utf8) + path.bytes
  }

  /// A watcher may have saved it first: `before` is the tip that the edit began with.
  private static func save(
    _ path: TreePath, in notebook: Notebook, as operation: OperationKind, since before: ObjectID?,
    _ options: CommonOptions
  ) throws {
    let saved = try notebook.save(only: [path], operation: operation)
    let version = try saved.version ?? notebook.ownVersion(of: path, since: before)
    let isNew = operation == .create
    let reason = saved.skipped.first { $0.path == path }?.reason.words
    options.tell(
      ["type": isNew ? "created" : "edited", "path": path, "version": version],
      NewCommand.sentence(isNew ? "Added" : "Saved", path, version)
        + (reason.map { "\nIt is not versioned: \($0)." } ?? ""))
    BackgroundGC.startIfDue(in: notebook)
  }
}

struct NewCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a note.",
    discussion: """
      The text comes from standard input where that is no terminal; otherwise the note is empty. \
      Without a title its first words are the title; --today calls the note as today is. \
      TITLE may begin with folders, and end in .md or .txt; .txt is what it gets by itself. A note \
      that is there already is never overwritten.

      Examples:
        notes new 'Summer plan' --edit
        notes new trips/Rome
        date | notes new Journal.md
        notes new journal --today --template 'Day template' --edit
      """)

  @Argument(
    help: .named("title", "The note's title; with --today its folder."), completion: .directory)
  var title: String?

  @Flag(name: .shortAndLong, help: "Write it in the editor.") var edit = false

  @Flag(help: "Make today's note, such as 2026-11-22, or append to it.") var today = false

  @Option(
    help: .named("note", "Begin with the text of this note."), completion: LiveCompletion.notes)
  var template: String?

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    var text = try template.map { try Self.text(ofTemplate: $0, in: notebook) } ?? []
    let isTyped = edit || isatty(STDIN_FILENO) == 1
    if !isTyped { text += try Self.input(limit: notebook.workTree.sizeLimit) }
    let title = try wholeTitle(of: text)
    let path = try notebook.path(titled: title, in: NotebookLocator.currentFolder(in: notebook))
    // Who writes the suffix means this one.
    let anySuffix = !TreePath(title).isNote
    if today, try notebook.isThere(path) {
      if edit { return try EditCommand.edit(path, in: notebook, options) }
      let version = try notebook.append(text, to: path)
      return options.tell(
        ["type": "added", "path": path, "version": version],
        Self.sentence("Added to", path, version))
    }
    if edit, text.isEmpty {
      return try EditCommand.write(path, anySuffix: anySuffix, in: notebook, options)
    }
    let version = try DeletionOption.foundBefore {
      try notebook.create(path, text: text, anySuffix: anySuffix)
    }
    options.tell(
      ["type": "created", "path": path, "version": version], Self.sentence("Added", path, version))
    if edit { return try EditCommand.edit(path, in: notebook, options) }
    BackgroundGC.startIfDue(in: notebook)
  }

  private func wholeTitle(of text: [UInt8]) throws(Failure) -> String {
    if today {
      let day = String(TimeText.local(TimeText.now).prefix(10))
      return title.map { NotebookLocator.trimmed($0) + "/" + day } ?? day
    }
    if let title { return title }
    let first = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).lazy
      .map { $0.drop { !$0.isLetter && !$0.isNumber } }.first { !$0.isEmpty }
    guard let first else {
      throw .usage(
        "the note's title is missing",
        hint: "'notes new TITLE', or pipe a text in that begins with it")
    }
    return Self.title(beginning: first)
  }

  /// The first words of a line, as far as a title goes that people read.
  static func title(beginning line: Substring) -> String {
    let words = line.map { $0 == "/" || $0 == "\\" ? "-" : $0 }.split(
      whereSeparator: \.isWhitespace)
    var title = ""
    for word in words.map({ String($0) }) {
      if !title.isEmpty, title.count + word.count > 50 { break }
      title += (title.isEmpty ? "" : " ") + String(word.prefix(50))
    }
    while let last = title.last, last.isPunctuation, last != ")" { title.removeLast() }
    return title
  }

  private static func text(ofTemplate name: String, in notebook: Notebook) throws -> [UInt8] {
    try notebook.workTree.text(of: NotebookLocator.noteOnly(name, in: notebook))
  }

  static func input(limit: Int) throws(Failure) -> [UInt8] {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // No standard input at all is as good as an empty one.
      if count < 0, errno != EBADF {
        throw Failure(
          .failed, "input_failed", "the text cannot be read: \(String(errorNumber: errno))",
          hint: "nothing was made; run the command again")
      }
      if count <= 0 { return text }
      text += buffer[..<count]
      if text.count > limit {
        throw Failure(
          .failed, "too_large", "the text is larger than \(Phrase.bytes(limit))",
          hint: "'notes config max-file-size' sets the limit")
      }
    }
  }

  static func sentence(_ done: String, _ path: TreePath, _ version: ObjectID?) -> String {
    guard let version else { return "Nothing changed in \(Visible.name(path))." }
    return "\(done) \(Visible.name(path)): version \(Console.output.paint(version))"
  }
}
