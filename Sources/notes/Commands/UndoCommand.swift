internal import ArgumentParser
internal import Notebook

struct UndoCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Take an automatic merge of a note back to conflict markers.",
    discussion: """
      Where edits of the same lines met, notes may have put them together by itself: 'notes log' \
      and 'notes sync' show such a note as merged. This makes a version in which the edits stand \
      between markers instead, to be resolved by hand. Any other state of a note is brought back \
      by 'notes restore'.

      Examples:
        notes undo Shopping
      """)

  @Argument(help: ArgumentHelp("The note.", valueName: "note"))
  var note: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let path = try Place.note(note, in: notebook)
    guard let version = try notebook.takeBackMerge(of: path) else {
      throw Failure(
        .failed, "nothing_to_undo",
        "the last change of \(Visible.name(path)) is not an automatic merge of the same lines",
        hint: "'notes log \(Visible.word(path.noteTitle))' shows its versions; "
          + "'notes restore' brings one back")
    }
    if format.json {
      Output.standard.event([
        "type": .string("undone"), "path": .path(path), "version": .id(version),
      ])
    } else {
      Output.standard.line(
        "\(Visible.name(path)) holds both edits between markers now: version "
          + Console.output.paint(version.short, .yellow))
    }
    return .done
  }
}
