internal import ArgumentParser
internal import History
internal import Notebook

struct BlameCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "blame",
    abstract: "Show who wrote each line of a note, and when.",
    discussion: """
      Lines are followed through renames, and through the merges that notes made by itself to who \
      wrote them. With VERSION, the lines of that version (notes-versions(7)).

      Examples:
        notes blame Shopping
        notes blame Shopping@yesterday --long
      """)

  @Argument(help: ArgumentHelp("The note, and a version of it.", valueName: "note[@version]"))
  var note: String

  @Flag(name: .shortAndLong, help: "Show exact times.")
  var long = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let (path, version) = try Place.noteVersion(note, in: notebook)
    let report = try BlameReport(notebook.history.blame(path, at: version), in: notebook)
    if format.json {
      Output.standard.lines(report.json)
    } else {
      paging.page {
        Output.standard.write(
          report.text(on: Console.output, now: TimeText.now, isLong: long))
      }
    }
    return .done
  }
}
