import TestSupport
import Testing

/// README's figures are what was measured: scripts/bench-table makes its table of contrib/sync-figures.json.
@Suite struct FiguresTests {
  @Test func `README's table of syncs is the one that the script makes`() throws {
    let source = BuiltBinary.sourceFolder
    let made = try run(["\(source)/scripts/bench-table"])
    try #require(made.isSuccess, "\(made)")
    let readme = String(decoding: try readFile("\(source)/README.md"), as: UTF8.self)
    let begin = try #require(readme.firstRange(of: "<!-- scripts/bench-table -->\n"))
    let end = try #require(readme.firstRange(of: "<!-- end of scripts/bench-table -->\n"))
    #expect(readme[begin.upperBound..<end.lowerBound] == made.text)
    #expect(
      made.text.contains("git, git://") && made.text.contains("| one line, saved and synced, "))
  }
}
