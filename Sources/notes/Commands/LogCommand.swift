internal import ArgumentParser
internal import Git
internal import Notebook

struct LogCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the versions, newest first: who, when, and what changed.",
    discussion: """
      With NOTE only the versions that changed that note, also under its former names. Merges \
      that notes made by itself are shown where they settled something: a conflict, or edits of \
      one line merged by sentences or words.

      Examples:
        notes log
        notes log Shopping -n 5
        notes log --json
      """)

  @Argument(help: ArgumentHelp("Only versions that changed this note.", valueName: "note"))
  var note: String?

  @Option(
    name: [.customShort("n"), .long], help: ArgumentHelp("At most N versions.", valueName: "n"))
  var limit: Int?

  @Flag(help: "Also show merges that had nothing to settle.")
  var all = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let path = try note.map { try Place.note($0, in: notebook, includingDeleted: true) }
    if format.json {
      try forEach(in: notebook, of: path) {
        Output.standard.write(bytes: try VersionReport($0, in: notebook).json.encoded + [0x0A])
      }
      return .done
    }
    let now = TimeText.now
    try paging.page {
      var isFirst = true
      try forEach(in: notebook, of: path) { version in
        if !isFirst { Output.standard.line() }
        let report = try VersionReport(version, in: notebook, lineCounts: 10)
        Output.standard.write(report.text(on: Console.output, now: now))
        // The first page appears at once, however long the history is.
        if isFirst { Output.standard.flush() }
        isFirst = false
      }
      if isFirst { Output.standard.line("No versions yet.") }
    }
    return .done
  }

  private func forEach(
    in notebook: Notebook, of path: TreePath?, _ body: (Version) throws -> Void
  ) throws {
    var left = limit ?? .max
    try notebook.forEachVersion(of: path, includesDerived: true) { version in
      if version.isDerived, !all, !VersionReport.settledSomething(version) { return true }
      try body(version)
      left -= 1
      return left > 0
    }
  }
}
