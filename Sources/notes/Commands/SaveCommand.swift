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

  @OptionGroup var deletions: DeletionOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let paths = try notes.map { try Place.note($0, in: notebook) }
    try Self.save(
      in: notebook, paths: paths, message: message, allowDeletes: deletions.isAllowed,
      json: format.json)
    return .done
  }

  /// Runs `notes save [-m MSG] [--json] [-C DIR]` without the argument parser if the arguments are
  /// plain enough.
  ///
  /// - Returns: nil where the parser has to look at them.
  static func runPlain(_ arguments: ArraySlice<String>) throws -> Exit? {
    var rest = arguments
    var folders: [String] = []
    var message: String?
    var json = false
    while let argument = rest.popFirst() {
      if argument == "--json" {
        json = true
      } else if argument == "-C", let folder = rest.popFirst(), !folder.hasPrefix("-") {
        folders.append(folder)
      } else if argument == "-m", message == nil, let text = rest.popFirst(), !text.hasPrefix("-") {
        message = text
      } else {
        return nil
      }
    }
    for folder in folders { try PlaceOption.enter(folder) }
    try save(
      in: Place.notebook(), paths: [], message: message, allowDeletes: false, json: json)
    return .done
  }

  private static func save(
    in notebook: Notebook, paths: [TreePath], message: String?, allowDeletes: Bool, json: Bool
  ) throws {
    // An empty message would make a version without a name; git refuses it, here it means none.
    let message = message.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    let line = ProgressLine()
    defer { line.clear() }
    let result = try notebook.save(
      message: message, only: paths, allowsMassDeletion: allowDeletes
    ) { line.show("saving", $0, of: $1, "file") }
    line.clear()
    let report = SaveReport(result: result)
    if json {
      Output.standard.event(report.json)
    } else {
      Output.standard.write(report.text(on: Console.output))
    }
    if result.version != nil { BackgroundTidying.startIfDue(in: notebook) }
  }
}
