internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

struct NewCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Make a note.",
    discussion: """
      The text comes from standard input where that is no terminal; otherwise the note is empty. \
      TITLE may begin with folders, and end in .md or .txt; .txt is what it gets by itself. A note \
      that is there already is never overwritten.

      Examples:
        notes new 'Summer plan' --edit
        notes new trips/Rome
        date | notes new Journal.md
      """)

  @Argument(help: ArgumentHelp("The note's title.", valueName: "title"))
  var title: String

  @Flag(name: .shortAndLong, help: "Write it in the editor.")
  var edit = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let path = try notebook.path(titled: title, in: Place.currentFolder(in: notebook))
    // Who writes the suffix means this one.
    let anySuffix = !TreePath(title).isNote
    if edit {
      try EditCommand.write(path, anySuffix: anySuffix, in: notebook, json: format.json)
      return .done
    }
    let text = isatty(STDIN_FILENO) == 1 ? [] : try Self.input(limit: notebook.workTree.sizeLimit)
    let version = try DeletionOption.foundBefore {
      try notebook.create(path, text: text, anySuffix: anySuffix)
    }
    NoteReport(type: "created", word: "Added", path: path, version: version)
      .print(json: format.json)
    BackgroundTidying.startIfDue(in: notebook)
    return .done
  }

  /// What standard input has.
  private static func input(limit: Int) throws(Failure) -> [UInt8] {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // No standard input at all is as good as an empty one.
      if count < 0, errno != EBADF {
        throw Failure(
          .failed, "input_failed", "the text cannot be read: \(Failure.reason(errno))",
          hint: "nothing was made; run the command again")
      }
      if count <= 0 { return text }
      text += buffer[..<count]
      if text.count > limit {
        throw Failure(
          .failed, "too_large", "the text is larger than \(Counted.bytes(limit))",
          hint: "'notes config max-file-size' sets the limit")
      }
    }
  }
}

/// What a command did to one note.
struct NoteReport {
  let type: String
  let word: String
  let path: TreePath
  let version: ObjectID?

  func print(json: Bool) {
    if json {
      Output.standard.event([
        "type": .string(type), "path": .path(path), "version": version.map(JSON.id) ?? .null,
      ])
    } else if let version {
      Output.standard.line(
        "\(word) \(Visible.name(path)): version " + Console.output.paint(version.short, .yellow))
    } else {
      Output.standard.line("Nothing changed in \(Visible.name(path)).")
    }
  }
}
