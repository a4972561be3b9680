import TestSupport
import Testing

/// The figures are what was measured: scripts/bench-table makes the table of contrib/sync-figures.json.
@Suite struct FiguresTests {
  @Test func `The table of syncs is the one that the script makes`() throws {
    let source = BuiltBinary.sourceFolder
    let made = try run(["\(source)/scripts/bench-table"])
    try #require(made.isSuccess, "\(made)")
    let page = String(decoding: try readFile("\(source)/contrib/comparison.md"), as: UTF8.self)
    let begin = try #require(page.firstRange(of: "<!-- scripts/bench-table -->\n"))
    let end = try #require(page.firstRange(of: "<!-- end of scripts/bench-table -->\n"))
    #expect(page[begin.upperBound..<end.lowerBound] == made.text)
    #expect(
      made.text.contains("git, git://") && made.text.contains("| one line, saved and synced, "))
  }
}
