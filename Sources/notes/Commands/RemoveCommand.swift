internal import ArgumentParser
internal import Git
internal import Notebook

struct RemoveCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete notes; their texts stay in the history.",
    discussion: """
      Deletes notes, or folders with all that is versioned in them, here and with the next sync on \
      the other devices. 'notes undo' takes that back, and 'notes restore NOTE' brings a deleted \
      note back at any time.

      Examples:
        notes rm Shopping
        notes rm 'Old plan' trips/
      """)

  @Argument(help: ArgumentHelp("The notes or folders.", valueName: "note"))
  var notes: [String]

  @OptionGroup var deletions: DeletionOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let paths = try notes.map { try Place.item($0, in: notebook).path }
    let removal = try deletions.guarded {
      try notebook.delete(paths, allowsMassDeletion: $0)
    }
    if format.json {
      Output.standard.event([
        "type": .string("deleted"), "paths": .array(removal.paths.map(JSON.path)),
        "version": removal.version.map(JSON.id) ?? .null,
      ])
      return .done
    }
    let what =
      removal.paths.count == 1
      ? removal.paths.map { Visible.name($0) }.joined()
      : Counted.things(removal.paths.count, "file")
    if let version = removal.version {
      Output.standard.line(
        "Deleted \(what): version " + Console.output.paint(version.short, .yellow)
          + "; 'notes undo' takes it back")
    }
    return .done
  }
}
