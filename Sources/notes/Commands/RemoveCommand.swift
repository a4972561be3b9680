internal import ArgumentParser
internal import Git
internal import Notebook

struct RemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete notes; their texts stay in the history.",
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
    let paths = try notes.map { try NotebookLocator.item($0, in: notebook).path }
    let removal = try deletions.guarded {
      try notebook.delete(paths, allowsMassDeletion: $0)
    }
    let what =
      removal.paths.count == 1
      ? removal.paths.map { Visible.name($0) }.joined()
      : Phrase.count(removal.paths.count, "file")
    options.write(
      lines: [
        ["type": "deleted", "paths": removal.paths, "version": removal.version]
      ],
      text: removal.version.map {
        "Deleted \(what): version \(Console.output.paint($0)); 'notes undo' undoes it\n"
      } ?? "")
  }
}
