internal import ArgumentParser
internal import Git
internal import Notebook

struct DiffCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show what changed, line by line.",
    discussion: """
      Without VERSIONS, the folder is compared with the last version; with V, with that version; \
      with V..W, version V with version W. Into a file or a pipe goes a unified diff that patch(1) \
      understands.

      Examples:
        notes diff
        notes diff Shopping ~2
        notes diff 2026-11-01..2026-11-20
      """)

  @Argument(
    help: ArgumentHelp(
      "Only this note; and the versions to compare, V or V..W.", valueName: "note|versions"))
  var subjects: [String] = []

  @OptionGroup var paging: PagerOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func validate() throws {
    if subjects.count > 2 { throw ValidationError("Too many arguments: one note, one V or V..W.") }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let comparison = try Comparison(subjects, in: notebook)
    let files = try comparison.files(in: notebook)
    if format.json {
      for file in files { Output.standard.write(bytes: file.json.encoded + [0x0A]) }
    } else {
      paging.page {
        for file in files { Output.standard.write(bytes: file.unified(for: Console.output)) }
      }
    }
    return .done
  }
}
