internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System
internal import WorkTree

struct NewCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a note.",
    discussion: """
      The text comes from standard input; if that is a terminal, the note is empty. Without a \
      title the first words of the text are the title; --today names the note after today's date. \
      TITLE may begin with folders, and end in .md or .txt; .txt is the default. The command \
      overwrites no note.

      Examples:
        notes new 'Summer plan' --edit
        notes new trips/Rome
        date | notes new Journal.md
        notes new journal --today --template 'Day template' --edit
      """)

  @Argument(
    help: .named("title", "The note's title; with --today its folder."), completion: .directory)
  var title: String?

  @Flag(name: .shortAndLong, help: "Open it in the editor.") var edit = false

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
    let editing = NoteEditing(notebook: notebook, options: options)
    // A name with a suffix means exactly this file.
    let anySuffix = !TreePath(title).isNote
    if today, try notebook.isThere(path) {
      if edit { return try editing.edit([EditedNote(path: path)]) }
      let version = try notebook.append(text, to: path)
      return options.tell(
        ["type": "added", "path": path, "version": version],
        Self.sentence("Added to", path, version))
    }
    if edit, text.isEmpty {
      return try editing.edit([
        EditedNote(path: path, creation: anySuffix ? .anySuffix : .thisSuffix)
      ])
    }
    let version = try DeletionOption.foundBefore {
      try notebook.create(path, text: text, anySuffix: anySuffix)
    }
    options.tell(
      ["type": "created", "path": path, "version": version], Self.sentence("Added", path, version))
    if edit { return try editing.edit([EditedNote(path: path)]) }
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
        hint: "run 'notes new TITLE', or pipe in a text that begins with the title")
    }
    return Self.title(beginning: first)
  }

  /// The first words of a line, as many as make a readable title.
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
      // Closed standard input counts as empty.
      if count < 0, errno != EBADF {
        throw Failure(
          .failed, "input_failed", "the text cannot be read: \(String(errorNumber: errno))",
          hint: "no note was made; run the command again")
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
