internal import ArgumentParser
internal import Notebook

struct ListCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the notes, last changed first.",
    discussion: """
      Lists the text notes of the folder, also those that are not saved yet; '!' marks a conflict.

      Examples:
        notes list
        notes list --long
      """)

  @Flag(name: .shortAndLong, help: "Also show IDs, sizes and exact times.")
  var long = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let report = ListReport(notes: try Place.notebook().notes(), isLong: long)
    if format.json {
      for line in report.json { Output.standard.write(bytes: line.encoded + [0x0A]) }
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}
