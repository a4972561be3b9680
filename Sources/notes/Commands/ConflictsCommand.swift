internal import ArgumentParser
internal import History
internal import Notebook

struct ConflictsCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List the notes with a conflict to resolve.",
    discussion: """
      A conflict is where edits of several devices met on the same lines. The note holds every \
      text between markers, on every device alike, until somebody edits the markers away or uses \
      'notes resolve'. Everything else goes on as usual meanwhile.

      Examples:
        notes conflicts
        notes conflicts --json
      """)

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let conflicts = try Place.notebook().history.conflicts()
    if format.json {
      for conflict in conflicts { Output.standard.event(conflict.json) }
    } else {
      Output.standard.write(
        ConflictsReport(conflicts: conflicts).text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}
