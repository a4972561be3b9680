internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct ConflictsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "List the notes with a conflict to resolve.",
    discussion: """
      A conflict is where edits of several devices met on the same lines. The note holds every \
      text between markers, on every device alike, until somebody edits the markers away or uses \
      'notes resolve'. Everything else goes on as usual meanwhile.

      Examples:
        notes conflicts
        notes conflicts --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let conflicts = try NotebookLocator.notebook().conflictReports()
    options.write(conflicts.map(\.json)) { conflicts.text(on: $0, now: TimeText.now) }
  }
}
