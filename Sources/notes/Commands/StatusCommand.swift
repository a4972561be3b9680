internal import ArgumentParser
internal import History
internal import Notebook

struct StatusCommand: Verb {
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

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    try Self.show(json: format.json)
    return .done
  }

  /// Runs `notes status` without the argument parser if the arguments are plain enough.
  ///
  /// - Returns: nil where the parser has to look at them.
  static func runPlain(_ arguments: ArraySlice<String>) throws -> Exit? {
    var rest = arguments
    var folders: [String] = []
    var json = false
    while let argument = rest.popFirst() {
      if argument == "--json" {
        json = true
      } else if argument == "-C", let folder = rest.popFirst(), !folder.hasPrefix("-") {
        folders.append(folder)
      } else {
        return nil
      }
    }
    for folder in folders { try PlaceOption.enter(folder) }
    try show(json: json)
    return .done
  }

  private static func show(json: Bool) throws {
    let notebook = try Place.notebook()
    let status = try notebook.status()
    let report = StatusReport(
      status: status, folder: notebook.folder,
      conflicts: status.state.conflictCount > 0 ? try notebook.history.conflicts() : [],
      watcher: RunningWatcher.says(of: notebook))
    if json {
      Output.standard.event(report.json)
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
  }
}
