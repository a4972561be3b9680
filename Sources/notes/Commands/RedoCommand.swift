internal import ArgumentParser
internal import Notebook

struct RedoCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Redo what was undone.",
    discussion: """
      Redoes the last undo, as a new version; N redoes the last N. What was edited since stays. What \
      the folder holds is saved first.

      Examples:
        notes redo
        notes redo 2 --dry-run
      """)

  @Argument(help: .named("n", "How many undos."))
  var count = 1

  @OptionGroup var trial: DryRunOption
  @OptionGroup var deletions: DeletionOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    guard count > 0 else { throw ValidationError("How many to redo is a number from 1 on.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let done = try deletions.guarded {
      try notebook.redo(count, trial: trial.isOn, allowsMassDeletion: $0)
    }
    let report = ReversalReport(reversal: done, isUndo: false, isTrial: trial.isOn)
    options.write(
      lines: [report.json], text: report.text(on: Console.output, now: TimeText.now))
  }
}
