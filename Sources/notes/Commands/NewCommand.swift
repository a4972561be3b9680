internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System
internal import WorkTree

struct NewCommand: Command {
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

  @Argument(help: .named("title", "The note's title."), completion: .directory)
  var title: String

  @Flag(name: .shortAndLong, help: "Write it in the editor.")
  var edit = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let path = try notebook.path(titled: title, in: NotebookLocator.currentFolder(in: notebook))
    // Who writes the suffix means this one.
    let anySuffix = !TreePath(title).isNote
    if edit {
      try EditCommand.write(path, anySuffix: anySuffix, in: notebook, options)
      return
    }
    let text = isatty(STDIN_FILENO) == 1 ? [] : try Self.input(limit: notebook.workTree.sizeLimit)
    let version = try DeletionOption.foundBefore {
      try notebook.create(path, text: text, anySuffix: anySuffix)
    }
    options.tell(
      ["type": "created", "path": path, "version": version],
      Self.sentence("Added", path, version))
    BackgroundGC.startIfDue(in: notebook)
  }

  private static func input(limit: Int) throws(Failure) -> [UInt8] {
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

  /// What was done to a note.
  static func sentence(_ done: String, _ path: TreePath, _ version: ObjectID?) -> String {
    guard let version else { return "Nothing changed in \(Visible.name(path))." }
    return "\(done) \(Visible.name(path)): version \(Console.output.paint(version))"
  }
}
