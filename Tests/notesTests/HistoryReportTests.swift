import Exchange
import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import notes

/// What log, diff and blame say, at fixed widths, with and without colour.
@Suite(.serialized) struct HistoryReportTests {
  private let now = ReportFixture.now

  private func log(
    _ fixture: ReportFixture, of path: TreePath? = nil, since: Int64? = nil, by: String? = nil,
    all: Bool = false, folds: Bool = true
  ) throws -> [VersionReport] {
    var entries = LogEntries(
      walk: try fixture.notebook.history.versions(
        of: path, includingDerived: true, in: since.map { $0..<Int64.max }),
      VersionProofs(in: fixture.notebook), author: by, showsAll: all, folds: folds,
      oneNoteIn: path == nil ? nil : fixture.notebook.repository)
    var reports: [VersionReport] = []
    while let burst = try entries.next() {
      reports.append(
        try VersionReport(burst, in: fixture.notebook, VersionProofs(in: fixture.notebook)))
    }
    return reports
  }

  private func text(
    _ reports: [VersionReport], of fixture: ReportFixture, on terminal: Terminal, long: Bool = false
  ) throws -> String {
    let style = VersionReport.Style(
      terminal: terminal, now: now, isLong: long,
      own: try fixture.notebook.history.versionsMadeHere())
    return reports.map { $0.text(in: style) }.joined(separator: "\n")
  }

  /// Three saves in one go, a pause, one with a title, and one on another device.
  private func bursts() throws -> ReportFixture {
    let fixture = try ReportFixture()
    let start: Int64 = 1_700_000_000
    for (position, list) in ["milk\n", "milk\neggs\n", "milk\neggs\n日本茶 🍵\n"].enumerated() {
      try fixture.save([("Shopping.txt", list)], at: start + Int64(position) * 300)
    }
    try fixture.save([("Shopping.txt", "milk\n日本茶 🍵\n")], at: start + 3600, "Eggs are bought")
    try fixture.save([("Journal.txt", "A quiet day.\n")], at: start + 7200)
    return fixture
  }

  @Test func `log`() throws {
    let fixture = try ReportTests.eventful()
    let reports = try log(fixture)
    try Golden.screens("log") { try text(reports, of: fixture, on: $0) }
    try Golden.expect(
      text(reports, of: fixture, on: .screen(), long: true), matches: "log-long.txt")
    try Golden.expect(Golden.lines(reports.map(\.json)), matches: "log.json")
  }

  @Test func `Saves in one go are one entry`() throws {
    let fixture = try bursts()
    let folded = try log(fixture)
    #expect(folded.count == 3)
    try Golden.screens("log-burst") { try text(folded, of: fixture, on: $0) }
    #expect(try log(fixture, folds: false).count == 5)
    #expect(try log(fixture, of: "Shopping.txt").count == 2)
  }

  @Test func `The log is cut by time and by author`() throws {
    let fixture = try ReportTests.eventful()
    #expect(try log(fixture, by: "BEN").count == 1)
    #expect(try log(fixture, by: "nobody").isEmpty)
    #expect(try log(fixture, since: 1_700_003_600).count == 3)
    #expect(try log(fixture, since: 1_800_000_000).isEmpty)
  }

  private func edited() throws -> [FileDiff] {
    let fixture = try ReportTests.eventful()
    try fixture.folder.write("milk\neggs\u{1B}[31m", to: "Shopping.txt")
    try fixture.folder.write("\u{0}new", to: "photo.png")
    try #require(unlink(fixture.folder["recipes/Soup.md"]) == 0)
    return try Comparison([], in: fixture.notebook).files(in: fixture.notebook)
  }

  @Test func `diff`() throws {
    let files = try edited()
    try Golden.screens("diff") { terminal in
      files.map { $0.words(for: terminal) }.joined(separator: "\n")
    }
    try Golden.screens("diff-unified") { terminal in
      files.map { String(decoding: $0.unified(for: terminal), as: UTF8.self) }.joined()
    }
    try Golden.expect(
      files.map { String(decoding: $0.unified(for: .plain), as: UTF8.self) }.joined(),
      matches: "diff-plain.txt")
    try Golden.expect(Golden.lines(files.map(\.json)), matches: "diff.json")
  }

  @Test func `Changed prose is broken between words, whatever its script`() throws {
    let old = """
      The quick brown fox jumps over the lazy dog, and nobody minds it very much at all.
      Unchanged.
      買い物リスト：牛乳、卵、パン、そして日本茶を忘れないでください。
      A line that goes.
      Ünïcödé 👩‍👩‍👧 stays.

      """
    let new = """
      The quick red fox leaps over the lazy dog, and nobody minds it very much at all.
      Unchanged.
      買い物リスト：牛乳、卵、ごはん、そして日本茶を忘れないでください。
      Ünïcödé 👩‍👩‍👧‍👦 stays here.
      Something else that came at the end.

      """
    let file = FileDiff(path: "Prose.txt", old: Array(old.utf8), new: Array(new.utf8))
    try Golden.screens("diff-prose") { file.words(for: $0) }
    try Golden.expect(file.words(for: .plain), matches: "diff-prose-plain.txt")
    for line in file.words(for: .screen(40)).split(separator: "\n") {
      #expect(Width.of(String(line)) <= 40, "\(line)")
    }
  }

  @Test func `blame`() throws {
    let fixture = try ReportTests.eventful()
    try fixture.folder.write(
      try fixture.folder.text("Journal.txt")
        + "A line that is not saved yet and is much too long for a narrow terminal.\n",
      to: "Journal.txt")
    let report = try BlameReport(
      fixture.notebook.history.blame("Journal.txt"), in: fixture.notebook)
    try Golden.screens("blame") { report.text(on: $0, now: now) }
    try Golden.expect(report.text(on: .plain, now: now), matches: "blame-plain.txt")
    try Golden.expect(
      report.text(on: .screen(), now: now, isLong: true), matches: "blame-long.txt")
    try Golden.expect(Golden.lines(report.json), matches: "blame.json")
  }
}
