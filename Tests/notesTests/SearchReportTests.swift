import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import notes

@Suite(.serialized) struct SearchReportTests {
  private let fixture: ReportFixture

  init() throws {
    fixture = try ReportFixture()
    let long = String(repeating: "so many words before it, ", count: 5)
    try fixture.save(
      [
        ("Milk.txt", "white\n"),
        ("recipes/Soup.md", "# Soup\n\nMilk\tand milk\nleeks\n\(long)milk and more after it\n"),
        ("日本語のノート.txt", String(repeating: "牛乳 milk ", count: 12) + "\n"),
        ("evil\u{1B}[31m\u{202E}.txt", "\u{1B}]0;milk\u{7}\nmilky\nmilk\nmilk\nmilk\n"),
        ("Buttermilk.txt", "Buttermilk\n"), ("Gone.txt", "oat milk\n"), ("Tea.txt", "milk?\n"),
      ], at: 1_700_000_000)
    try #require(unlink(fixture.folder["Gone.txt"]) == 0)
    try fixture.save([("Tea.txt", "lemon\n")], at: 1_700_003_600)
    // The folder's times are those of the files.
    for name in ["Milk.txt", "recipes/Soup.md", "日本語のノート.txt", "evil\u{1B}[31m\u{202E}.txt"] {
      try age(name, 1_700_000_000)
    }
    try age("Buttermilk.txt", 1_699_000_000)
  }

  private func age(_ name: String, _ seconds: Int) throws {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, fixture.folder[name], [time, time], 0) == 0)
  }

  private func report(_ query: SearchQuery, limit: Int = .max) throws -> SearchReport {
    var hits = try fixture.notebook.history.search(query)
    hits += try fixture.notebook.history.searchHistory(query, except: Set(hits.map(\.path)))
    return SearchReport(hits: hits.prefix(limit), found: hits.count, texts: query.terms)
  }

  private func text(_ report: SearchReport, _ terminal: Terminal) -> String {
    var text = ""
    report.write(on: terminal, now: ReportFixture.now) { text += $0 }
    return text
  }

  @Test func `search`() throws {
    let report = try report(SearchQuery(["milk"]))
    try Golden.screens("search") { text(report, $0) }
    try Golden.expect(Golden.lines(report.json), matches: "search.json")
  }

  @Test func `search with context and a limit`() throws {
    let report = try report(SearchQuery(["milk"], context: 1), limit: 4)
    try Golden.screens("search-context") { text(report, $0) }
  }

  @Test func `search that finds nothing`() throws {
    let report = try report(SearchQuery(["no such", "\u{1B}[31m"]))
    #expect(text(report, .screen()) == "No note contains 'no such' and '\\u{1b}[31m'.\n")
  }

  @Test func `Lines fit the terminal and show their first match`() throws {
    for width in 20...90 {
      let shown = text(try report(SearchQuery(["milk"])), .screen(width, colour: true))
      for line in shown.split(separator: "\n") where line.contains(":") {
        var plain = String(line)
        for style in ["\u{1B}[1;31m", "\u{1B}[2m", "\u{1B}[0m"] {
          plain = plain.split(separator: style, omittingEmptySubsequences: false).joined()
        }
        #expect(Width.of(plain) <= width)
        #expect(!plain.unicodeScalars.contains("\u{1B}"))
        #expect(line.contains("\u{1B}[1;31m"), "\(width): \(plain)")
      }
    }
  }
}
