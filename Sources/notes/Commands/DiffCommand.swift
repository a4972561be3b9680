internal import ArgumentParser
internal import Git
internal import Notebook

struct DiffCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show what changed, word by word.",
    discussion: """
      Without VERSIONS, the folder is compared with the last version; with V, with that version; \
      with V..W, version V with version W (notes-versions(7)). Words that went and came are \
      coloured, or stand in [-…-] and {+…+}. --unified makes a diff that patch(1) understands.

      Examples:
        notes diff
        notes diff Shopping ~2
        notes diff 'last week..yesterday'
        notes diff --unified > changes.patch
      """)

  @Argument(
    help: .named("note|versions", "Only this note; and the versions to compare, V or V..W."),
    completion: LiveCompletion.notes)
  var subjects: [String] = []

  @Flag(name: .shortAndLong, help: "Show changed lines, as diff(1) does.")
  var unified = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if subjects.count > 2 { throw ValidationError("Too many arguments: one note, one V or V..W.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let comparison = try Comparison(subjects, in: notebook)
    let files = try comparison.files(in: notebook)
    if options.json { return Output.standard.lines(files.map(\.json)) }
    paging.page {
      // A patch of nothing is empty.
      if files.isEmpty, !unified { Output.standard.line("No differences.") }
      for (position, file) in files.enumerated() {
        if unified {
          Output.standard.write(bytes: file.unified(for: Console.output))
        } else {
          if position > 0 { Output.standard.line() }
          Output.standard.write(file.words(for: Console.output))
        }
      }
    }
  }
}
