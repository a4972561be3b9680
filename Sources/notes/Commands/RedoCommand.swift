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

  @OptionGroup var trial: TrialOption
  @OptionGroup var deletions: DeletionOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func validate() throws {
    guard count > 0 else { throw ValidationError("How many to redo is a number from 1 on.") }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let done = try deletions.guarded {
      try notebook.redo(count, trial: trial.isOn, allowsMassDeletion: $0)
    }
    ReversalReport(reversal: done, isUndo: false, isTrial: trial.isOn).print(json: format.json)
    return .done
  }
}
