internal import ArgumentParser
internal import Notebook
internal import WorkTree

/// `--allow-deletes`: what the guard against mass deletion stops, asked of the user where there is one.
struct DeletionOption: ParsableArguments {
  @Flag(
    name: .customLong("allow-deletes"),
    help: "Go on although more than half of the notes are deleted.")
  var isAllowed = false

  /// Runs `body`, which deletes much only if it is told to; asks before it is told so.
  func guarded<Result>(_ body: (_ isAllowed: Bool) throws -> Result) throws -> Result {
    do {
      return try body(isAllowed)
    } catch NotebookError.massDeletion(let deleted, let total) where !isAllowed && Console.canAsk {
      let question =
        "This deletes \(Phrase.number(deleted)) of \(Phrase.count(total, "note")). Go on?"
      guard Console.confirm(question, byDefault: false) else {
        throw NotebookError.massDeletion(deleted: deleted, of: total)
      }
      return try body(true)
    }
  }

  /// Runs `body`, which only saves what the folder holds before it does its own work.
  static func foundBefore<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch NotebookError.massDeletion(let deleted, let total) {
      throw Failure(
        .failed, "mass_deletion",
        "\(Phrase.number(deleted)) of \(Phrase.count(total, "note")) are gone from the folder",
        hint: "'notes restore --all' brings them back, 'notes save --allow-deletes' lets them go")
    }
  }
}
