import TestSupport
import Testing

/// The figures are what was measured: bench/sync-table makes the table of contrib/sync-figures.json.
@Suite struct FiguresTests {
  @Test func `The table of syncs is the one that the script makes`() throws {
    let source = BuiltBinary.sourceFolder
    let made = try run(["\(source)/bench/sync-table"])
    try #require(made.isSuccess, "\(made)")
    let page = String(decoding: try readFile("\(source)/contrib/comparison.md"), as: UTF8.self)
    let begin = try #require(page.firstRange(of: "<!-- bench/sync-table -->\n"))
    let end = try #require(page.firstRange(of: "<!-- end of bench/sync-table -->\n"))
    #expect(page[begin.upperBound..<end.lowerBound] == made.text)
    #expect(
      made.text.contains("git, git://") && made.text.contains("| one line, saved and synced, "))
  }
}
