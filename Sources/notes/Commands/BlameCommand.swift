internal import ArgumentParser
internal import History
internal import Notebook

struct BlameCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "blame", abstract: "Show who wrote each line of a note, and when.",
    discussion: """
      Lines are followed through renames, and through the merges that notes made by itself to who \
      wrote them. With VERSION, the lines of that version (notes-versions(7)).

      Examples:
        notes blame Shopping
        notes blame Shopping@yesterday --long
      """)

  @Argument(
    help: .named("note[@version]", "The note, and a version of it."),
    completion: LiveCompletion.noteVersions)
  var note: String

  @Flag(name: .shortAndLong, help: "Show exact times.") var long = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let (path, version) = try NotebookLocator.noteVersion(note, in: notebook)
    let report = try BlameReport(notebook.history.blame(path, at: version), in: notebook)
    paging.page(unless: options.json) {
      options.write(report.json) { report.text(on: $0, now: TimeText.now, isLong: long) }
    }
  }
}
