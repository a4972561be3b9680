internal import ArgumentParser
internal import Notebook

struct RedoCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Do again what 'notes undo' took back.",
    discussion: """
      Takes back the last undo that was not taken back yet, as a new version; a number takes back so \
      many. What was edited since stays. What the folder holds is saved first.

      Examples:
        notes redo
        notes redo 2 --dry-run
      """)

  @Argument(help: ArgumentHelp("How many undos.", valueName: "n"))
  var count = 1

  @Flag(name: .shortAndLong, help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "Go on although more than half of the notes are deleted.")
  var allowDeletes = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    guard count > 0 else { throw ValidationError("How many to redo is a number from 1 on.") }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let done = try Deletions.guarded(allowed: allowDeletes) {
      try notebook.redo(count, trial: dryRun, allowsMassDeletion: $0)
    }
    ReversalReport(reversal: done, isUndo: false, isTrial: dryRun).print(json: format.json)
    return .done
  }
}
