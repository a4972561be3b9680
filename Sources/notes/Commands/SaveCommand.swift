internal import ArgumentParser
internal import Git
internal import Notebook

struct SaveCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "save",
    abstract: "Make a version of what the folder holds now.",
    discussion: """
      Keeps every changed, new and deleted file, or only the notes and folders named. Where \
      nothing changed, no version is made. 'notes sync' saves by itself.

      Examples:
        notes save
        notes save -m 'Plan for the summer' 'Summer plan'
      """)

  @Argument(help: ArgumentHelp("Only these notes or folders.", valueName: "note"))
  var notes: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("What to call the version.", valueName: "msg"))
  var message: String?

  @Flag(help: "Go on although more than half of the notes are gone.")
  var allowDeletes = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let paths = try notes.map { try Place.note($0, in: notebook) }
    // An empty message would make a version without a name; git refuses it, here it means none.
    let message = message.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    let report = SaveReport(
      result: try notebook.save(
        message: message, only: paths, allowsMassDeletion: allowDeletes))
    if format.json {
      Output.standard.event(report.json)
    } else {
      Output.standard.write(report.text(on: Console.output))
    }
    if report.result.version != nil { BackgroundTidying.startIfDue(in: notebook) }
    return .done
  }
}
