import Exchange
import Git
import History
import Notebook
import TestSupport
import Testing

@testable import notes

/// `notes log --graph`: which version was made on which, beside the entries.
@Suite(.serialized) struct GraphTests {
  private func graph(
    _ fixture: ReportFixture, on terminal: Terminal, showsPatch: Bool = false
  ) throws -> String {
    var entries = LogEntries(
      walk: try fixture.notebook.history.versions(of: nil, includingDerived: true),
      VersionProofs(in: fixture.notebook), showsAll: true, folds: false, oneNoteIn: nil)
    let style = VersionReport.Style(
      terminal: terminal, now: ReportFixture.now,
      own: try fixture.notebook.history.versionsMadeHere())
    var text = LogText(
      notebook: fixture.notebook, style: style, showsPatch: showsPatch,
      graph: GraphLines(terminal: terminal), proofs: VersionProofs(in: fixture.notebook))
    var shown = ""
    while let burst = try entries.next() { shown += try text.entry(burst) }
    return shown
  }

  private func expectFit(_ text: String, _ width: Int, _ place: SourceLocation = #_sourceLocation) {
    for line in text.split(separator: "\n") {
      #expect(Width.of(String(line)) <= width, "\(width): \(line)", sourceLocation: place)
    }
  }

  @Test func `It shows what was made on what`() throws {
    let fixture = try ReportTests.eventful()
    try fixture.meet("Cleo", [("New.txt", "x\n")], at: 1_700_008_000)
    try fixture.save([("After.txt", "y\n")], at: 1_700_009_000)
    try Golden.screens("log-graph") { try graph(fixture, on: $0) }
  }

  @Test func `Many devices with wide names fit a narrow terminal`() throws {
    let fixture = try ReportFixture()
    try fixture.save([("買い物リスト.txt", "牛乳\n")], at: 1_700_000_000)
    for device in 1...9 {
      try fixture.meet(
        "Zoë's 携帯電話 📱 number \(device)",
        [("日本語のノート \(device).txt", "長い行です。\nA line that is much too long here.\n")],
        at: 1_700_000_000 + Int64(device))
    }
    try Golden.screens("log-graph-wide") { try graph(fixture, on: $0) }
    for width in stride(from: 36, through: 90, by: 6) {
      let text = try graph(fixture, on: .screen(width), showsPatch: true)
      expectFit(text, width)
      #expect(text.split(separator: "\n").count { $0.contains("*") } == 11)
    }
  }

  @Test func `However many lanes there are, each line fits and each version has its sign`() throws {
    var random = SplitMix64.reported()
    for _ in 0..<60 {
      let width = Int.random(in: 36...120, using: &random)
      let count = Int.random(in: 1...60, using: &random)
      let ids = try (1...count).map {
        try #require(ObjectID(bytes: [UInt8](repeating: UInt8($0), count: 20)))
      }
      var lines = GraphLines(terminal: .screen(width))
      for (place, id) in ids.enumerated() {
        let older = ids[(place + 1)...]
        let parents = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
          older.randomElement(using: &random)
        }
        let room = width - lines.width(beside: id)
        #expect(room >= 30)
        let entry = Width.cut(String(repeating: "日本 wide ", count: 20), to: room)
        let unique = parents.reduce(into: [ObjectID]()) { list, parent in
          if !list.contains(parent) { list.append(parent) }
        }
        let text = lines.text(entry + "\n" + entry + "\n", of: id, parents: unique)
        expectFit(text, width)
        let rows = text.split(separator: "\n")
        #expect(rows[0].count { $0 == "*" } == 1 && !rows[1].contains("*"))
        #expect(rows[0].hasSuffix(entry) && rows[1].hasSuffix(entry))
      }
    }
  }
}
