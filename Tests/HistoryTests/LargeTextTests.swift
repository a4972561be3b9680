import Git
import NotebookSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import WorkTree

/// notes-diff(1): "Where the lines that went, or those that came in their place, have more than 1 MiB
/// together, they are compared by lines only".
@Suite("Large texts")
struct LargeTextTests {
  /// A line of so many bytes, its newline among them, with a word in it.
  static func line(_ size: Int, _ word: String) -> [UInt8] {
    Array((word + String(repeating: " more", count: size / 5)).utf8.prefix(size - 1)) + [0x0a]
  }

  @Test("by words up to a MiB, by lines above", arguments: [1 << 12, (1 << 20) + 1])
  func limit(size: Int) throws {
    let diff = WordDiff(from: Self.line(size, "milk"), to: Self.line(size, "rice"))
    let rows = try #require(diff.groups.first).rows.map(\.kind)
    #expect(rows == (size <= WordDiff.mostBytes ? [.changed] : [.removed, .added]))
  }

  @Test("a diff copies no large line, and a table neither")
  func slices() throws {
    let old = Self.line(3 << 20, "milk")
    let lines = LineDiff(from: old, to: []).hunks[0].lines
    let place = { (bytes: ArraySlice<UInt8>) in bytes.withUnsafeBufferPointer { $0.baseAddress } }
    #expect(place(lines[0].slice) == old.withUnsafeBufferPointer { $0.baseAddress })
    var table = LineTable()
    let number = table.lines(of: old)[0]
    #expect(place(table[number]) == old.withUnsafeBufferPointer { $0.baseAddress })
  }

  /// notes-blame(1): "The command refuses a note of more than 131072 lines. If an earlier version has more
  /// lines, blame compares only its first and last 65536, and attributes the lines between these to the next
  /// version."
  @Test("who wrote a line is looked for among so many, and none of their bytes are kept")
  func blamedLines() throws {
    let home = try Fixture()
    let lines = (0..<NumberedLines.most + 10).map { "\($0)" }
    try home.write("n.txt", lines.joined(separator: "\n") + "\n")
    let first = try #require(try home.notebook.save().version)
    #expect {
      try home.notebook.history.blame("n.txt")
    } throws: {
      guard case HistoryError.tooManyLines("n.txt", limit: 131_072) = $0 else { return false }
      return true
    }
    home.seconds.now += 60
    try home.write(
      "n.txt", [lines[0], lines[65_540], "new", lines[lines.count - 1], ""].joined(separator: "\n"))
    let second = try #require(try home.notebook.save().version)
    #expect(
      try home.notebook.history.blame("n.txt").map(\.origin) == [
        .version(first), .version(second), .version(second), .version(first),
      ])
    var numbers = LineNumbers()
    let text = Array("a\nb\n\na".utf8)
    #expect(numbers.lines(of: text).numbers == [0, 1, 2, 0] && numbers.count == 3)
  }

  /// notes-json(5), "log change": "null if it is not text, or has more than 262144 lines before and after together".
  @Test("lines of a text with very many are not counted in a list of versions")
  func countedLines() {
    let text = [UInt8](repeating: 0x0a, count: 131_072)
    #expect(!LineDiff.hasTooManyLines(text, text) && LineDiff.hasTooManyLines(text, text + [0x0a]))
  }

  /// notes-merge(7), "Words": none of the three has more than 1048576 bytes.
  @Test("two edits of a large line meet in markers, and both texts are there")
  func merge() throws {
    let (base, mine, yours) = (
      Self.line(3 << 20, "base"), Self.line(3 << 20, "mine"), Self.line(3 << 20, "yours")
    )
    var budget = MergeBudget(.standard)
    let result = TextMerge.merge(
      positives: [mine, yours].map { TextTerm(text: $0, label: Array("A · 2026".utf8)) },
      negatives: [TextTerm(text: base)], budget: &budget)
    #expect(result.markerSize == 7)
    #expect(result.text.count > mine.count + yours.count)
    #expect(result.rules.isEmpty)
  }
}
