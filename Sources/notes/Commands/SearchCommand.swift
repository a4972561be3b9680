internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct SearchCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find notes by what they hold.",
    discussion: """
      Lists the notes whose title or text holds TEXT, in any case; of several TEXTs a note must \
      hold all. Notes with the texts in their titles come first, then those that hold them as \
      whole words, each the last changed first.

      Examples:
        notes search milk eggs
        notes search 'oat milk' --history
        notes search --regex '^- \\[ \\]'
      """)

  @Argument(help: ArgumentHelp("What to look for.", valueName: "text"))
  var texts: [String]

  @Flag(
    help: "Also find notes that once held the texts, deleted ones too, and the version that did.")
  var history = false

  @Flag(help: "Take TEXT for a POSIX extended regular expression.")
  var regex = false

  @Flag(help: "Look at the titles only.")
  var title = false

  @Flag(help: "Tell capital letters from small ones.")
  var matchCase = false

  @Option(
    name: [.customShort("n", allowingJoined: true), .long],
    help: ArgumentHelp("At most N notes.", valueName: "n"))
  var limit: Int?

  @Option(help: ArgumentHelp("Show at most N matching lines of a note.", valueName: "n"))
  var lines: Int = 3

  @Option(help: ArgumentHelp("Show N lines around each of them.", valueName: "n"))
  var context: Int = 0

  @OptionGroup var paging: PagerOption
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func validate() throws {
    if texts.contains("") {
      throw ValidationError("There is nothing to look for in an empty text.")
    }
    if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
    if lines < 0 || context < 0 {
      throw ValidationError("--lines and --context take a number from 0 on.")
    }
  }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let query = try SearchQuery(
      texts, syntax: regex ? .expression : .plain, isCaseSensitive: matchCase,
      isTitleOnly: title, lineLimit: lines, context: context)
    let hits = try find(query, in: notebook)
    let report = SearchReport(hits: hits.prefix(limit ?? .max), left: hits.count, texts: texts)
    if format.json {
      Output.standard.lines(report.json)
    } else {
      paging.page {
        report.write(on: Console.output, now: TimeText.now) { Output.standard.write($0) }
      }
    }
    return .done
  }

  private func find(_ query: SearchQuery, in notebook: Notebook) throws -> [SearchHit] {
    let progress = ProgressLine()
    defer { progress.clear() }
    var hits = try notebook.history.search(query) { done, total in
      progress.show("searching: \(Counted.grouped(done)) of \(Counted.things(total, "file"))")
    }
    if history {
      hits += try notebook.history.searchHistory(query, except: Set(hits.map(\.path))) { count in
        progress.show("searching: \(Counted.things(count, "version"))")
      }
    }
    return hits
  }
}
