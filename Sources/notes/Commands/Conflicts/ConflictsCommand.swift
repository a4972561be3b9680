internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct ConflictsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "List the notes with a conflict to resolve.",
    discussion: """
      A note is in conflict if several devices edited the same lines. On every device it contains \
      each text between markers, until somebody edits the markers away or uses 'notes resolve'. \
      Everything else works as usual.

      Examples:
        notes conflicts
        notes conflicts --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let conflicts = try notebook.conflictReports()
    let unmerged = try notebook.workTree.indexFile().unmergedPaths
    let lines: [JSON] = unmerged.map { ["type": "unmerged", "path": $0] }
    options.write(conflicts.map(\.json) + lines) { terminal in
      guard !unmerged.isEmpty else { return conflicts.text(on: terminal, now: TimeText.now) }
      return (conflicts.isEmpty ? "" : conflicts.text(on: terminal, now: TimeText.now))
        + "Git could not merge:\n" + unmerged.map { "  \(Visible.name($0))\n" }.joined()
        + "  \(unmerged.mergeRemedy)\n"
    }
  }
}
