internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct SearchCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find notes by title or text.",
    discussion: """
      Lists the notes whose title or text contains TEXT, in any case; a note must contain all of \
      several TEXTs. Notes with the texts in their titles come first, then those that contain them \
      as whole words, then the others; in each group, the last changed first. A folder with a slash \
      at its end limits the search to it.

      Examples:
        notes search milk eggs
        notes search 'oat milk' --history
        notes search forum trips/
        notes search --regex '^- \\[ \\]'
      """)

  @Argument(help: .named("text", "The text to find.")) var texts: [String]

  @Option(help: .named("dir", "Only notes in this folder."), completion: .directory)
  var folder: String?

  @Flag(
    help:
      "Also find notes that once contained the texts, even deleted ones, each in its last version."
  )
  var history = false

  @Flag(help: "TEXT is a POSIX extended regular expression.") var regex = false

  @Flag(help: "Search only titles.") var title = false

  @Flag(help: "Distinguish upper and lower case.") var matchCase = false

  @Flag(help: "Ignore accents: cafe finds café.") var ignoreAccents = false

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], help: .named("n", "At most N notes."))
  var limit: Int?

  @Option(help: .named("n", "Show at most N matching lines of a note.")) var lines: Int = 3

  @Option(help: .named("n", "Show N lines around each of them.")) var context: Int = 0

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if texts.contains("") {
      throw ValidationError("There is nothing to look for in an empty text.")
    }
    if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
    if lines < 0 || context < 0 {
      throw ValidationError("--lines and --context take a number from 0 on.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let (texts, folder) = try scope(in: notebook)
    let query = try SearchQuery(
      texts, areExpressions: regex, isCaseSensitive: matchCase, ignoresAccents: ignoreAccents,
      isTitleOnly: title, lineLimit: lines, context: context, below: folder)
    warnAboutEscapes()
    let hits = try find(query, in: notebook)
    let report = SearchReport(hits: hits.prefix(limit ?? .max), found: hits.count, texts: texts)
    if options.json { return Output.standard.lines(report.json) }
    paging.page {
      report.write(on: Console.output, now: TimeText.now) { Output.standard.write($0) }
    }
  }

  /// The search terms and the folder: if the last word is a folder's name with a slash, it is not a
  /// term.
  private func scope(in notebook: Notebook) throws -> (texts: [String], folder: TreePath) {
    if let folder {
      return (texts, try NotebookLocator.existingFolder(named: folder, in: notebook))
    }
    guard texts.count > 1, let last = texts.last, last.hasSuffix("/") || last == ".",
      let folder = NotebookLocator.folderOrTop(named: last, in: notebook)
    else { return (texts, "") }
    return (texts.dropLast(), folder)
  }

  /// Warns of escapes that other kinds of regular expressions have: in POSIX, `\d` means a d.
  private func warnAboutEscapes() {
    guard regex else { return }
    var seen: Set<Character> = []
    for text in texts {
      var rest = text[...]
      while let slash = rest.firstIndex(of: "\\"), let next = rest[slash...].dropFirst().first {
        rest = rest[slash...].dropFirst(2)
        guard next.isASCII, next.isLetter, !"wWsSbB".contains(next), seen.insert(next).inserted
        else { continue }
        let instead = next == "d" ? "; '[0-9]' finds digits" : ""
        Output.errors.line(
          "notes: warning: '\\\(next)' means the letter \(next) in these expressions\(instead)")
      }
    }
  }

  private func find(_ query: SearchQuery, in notebook: Notebook) throws -> [SearchHit] {
    let progress = ProgressLine()
    defer { progress.clear() }
    var hits = try notebook.history.search(query) { done, total in
      progress.show("searching: \(Phrase.number(done)) of \(Phrase.count(total, "file"))")
    }
    if history {
      hits += try notebook.history.searchHistory(query, except: Set(hits.map(\.path))) { count in
        progress.show("searching: \(Phrase.count(count, "version"))")
      }
    }
    return hits
  }
}
