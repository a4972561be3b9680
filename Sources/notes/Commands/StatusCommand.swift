internal import ArgumentParser
internal import History
internal import Notebook

struct StatusCommand: Command {
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

  func run() throws { try Self.show(json: options.json) }

  static func show(json: Bool = false) throws {
    let notebook = try NotebookLocator.notebook()
    let status = try notebook.status()
    let report = StatusReport(
      status: status, folder: notebook.folder,
      conflicts: status.state.conflictCount > 0 ? try notebook.history.conflicts() : [],
      watcher: RunningWatcher.status(of: notebook))
    Output.standard.report(json ? [report.json] : nil) { report.text(on: $0, now: TimeText.now) }
  }
}
