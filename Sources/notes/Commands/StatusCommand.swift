internal import ArgumentParser
internal import History
internal import Notebook

struct StatusCommand: PlainCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what changed, what is in conflict, and which version this device shows.",
    discussion: """
      Lists the files that differ from the last version, the notes with a conflict to resolve, \
      and the files that are not versioned; and, where 'notes watch' runs, which devices are \
      connected. Changes nothing.

      Examples:
        notes status
        notes -C ~/notes status --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    try Self.show(json: options.json)
  }

  static func run(on words: ArraySlice<String>) throws -> Bool {
    guard words.isEmpty else { return false }
    try show(json: false)
    return true
  }

  private static func show(json: Bool) throws {
    let notebook = try NotebookLocator.notebook()
    let status = try notebook.status()
    let report = StatusReport(
      status: status, folder: notebook.folder,
      conflicts: status.state.conflictCount > 0 ? try notebook.history.conflicts() : [],
      watcher: RunningWatcher.status(of: notebook))
    CommonOptions.write(
      json: json, lines: [report.json],
      text: report.text(on: Console.output, now: TimeText.now))
  }
}
