internal import ArgumentParser
internal import Notebook

struct RedoCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Do again what 'notes undo' took back.",
    discussion: """
      Takes back the last undo that was not taken back yet, as a new version; what was edited since \
      stays. What the folder holds is saved first.

      Examples:
        notes redo
        notes redo --dry-run
      """)

  @Flag(name: .shortAndLong, help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "Go on although more than half of the notes are deleted.")
  var allowDeletes = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let done = try Deletions.guarded(allowed: allowDeletes) {
      try notebook.redo(trial: dryRun, allowsMassDeletion: $0)
    }
    ReversalReport(reversal: done, isUndo: false, isTrial: dryRun).print(json: format.json)
    return .done
  }
}
