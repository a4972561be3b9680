internal import ArgumentParser
internal import Git
internal import Notebook

struct ListCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the notes, last changed first.",
    discussion: """
      Lists the text notes of the folder, also those that are not saved yet; '!' marks a conflict. \
      With TEXT only those that have it in their title, in any case.

      Examples:
        notes list
        notes list plan --folder trips
        notes list --sort size --long
        notes list --since 2026-11-01
        notes list --attachments
      """)

  /// What notes can be sorted by.
  enum Order: String, ExpressibleByArgument, CaseIterable {
    case modified, created, title, size
  }

  @Argument(help: ArgumentHelp("Only notes with this in their title.", valueName: "text"))
  var text: String?

  @Flag(name: .shortAndLong, help: "Also show IDs, sizes and exact times.")
  var long = false

  @Option(help: ArgumentHelp("modified, created, title or size.", valueName: "order"))
  var sort: Order = .modified

  @Flag(name: .shortAndLong, help: "List in the opposite order.")
  var reverse = false

  @Option(help: ArgumentHelp("Only notes in this folder.", valueName: "dir"))
  var folder: String?

  @Option(help: ArgumentHelp("Only notes changed since then.", valueName: "date"))
  var since: String?

  @Flag(help: "List the attachments instead.")
  var attachments = false

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    var notes = try notebook.files().filter { $0.path.isNote != attachments }
    let isNone = notes.isEmpty
    if let text {
      let wanted = text.lowercased()
      notes.removeAll { !$0.title.lowercased().contains(wanted) }
    }
    if let folder {
      guard let path = Place.folderOrTop(named: folder, in: notebook) else {
        throw Failure(
          .failed, "no_such_folder", "there is no folder '\(Visible.name(folder))'",
          hint: "it is named as seen from here, or from the notebook's top")
      }
      let start = path.isEmpty ? [] : path.bytes + [UInt8(ascii: "/")]
      notes.removeAll { !$0.path.bytes.starts(with: start) }
    }
    if let since {
      guard let time = NamedTime(parsing: since, now: TimeText.now) else {
        throw Failure.usage(
          "'\(Visible.name(since))' is not a date",
          hint: "write it like 2026-11-20, yesterday, or '2 weeks ago'")
      }
      // What is not saved yet is younger than all.
      notes.removeAll { $0.modified.map { $0 < time.first } ?? false }
    }
    let report = ListReport(
      notes: notes, isLong: long, order: sort, isReversed: reverse, isFiltered: !isNone,
      kind: attachments ? "attachment" : "note")
    if format.json {
      for line in report.json { Output.standard.write(bytes: line.encoded + [0x0A]) }
    } else {
      Output.standard.write(report.text(on: Console.output, now: TimeText.now))
    }
    return .done
  }
}
