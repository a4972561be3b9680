internal import ArgumentParser
internal import Glibc
internal import Notebook
internal import WorkTree

struct AddCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Append to a note.",
    discussion: """
      Appends the text, or standard input if no text is given, on a line of its own, and saves it as \
      a version.

      Examples:
        notes add Shopping coffee
        date | notes add Journal
      """)

  @Argument(help: .named("note", "The note."), completion: LiveCompletion.notes) var note: String

  @Argument(help: .named("text", "The text to append; without it, standard input."))
  var text: [String] = []

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let path = try NotebookLocator.noteOnly(note, in: notebook)
    // If something else is in the note's place in the folder, the appended text would not be visible.
    if let absent = try notebook.workTree.absence(of: path), case .obstructed = absent.reason {
      throw Failure(.failed, "not_in_folder", absent.absence, hint: absent.remedy)
    }
    var bytes = Array(text.joined(separator: " ").utf8)
    if text.isEmpty, isatty(STDIN_FILENO) == 0 {
      bytes = try NewCommand.input(limit: notebook.workTree.sizeLimit)
    }
    guard !bytes.isEmpty else {
      throw Failure.usage(
        "there is nothing to append", hint: "write the text after the note's title, or pipe it in")
    }
    let version = try DeletionOption.foundBefore { try notebook.append(bytes, to: path) }
    options.tell(
      ["type": "added", "path": path, "version": version],
      NewCommand.sentence("Added to", path, version))
    BackgroundGC.startIfDue(in: notebook)
  }
}
