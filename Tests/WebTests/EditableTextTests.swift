import TestSupport
import Testing

@testable import Web

/// notes-web(1), "What a save is made on": what nobody typed comes back from a form byte for byte.
@Suite struct EditableTextTests {
  /// What a browser sends of a field that was filled with a page's markup: the first line end is dropped, and
  /// each of the others is sent as CR LF.
  private static func sent(_ text: String, _ edit: (inout [String]) -> Void = { _ in }) -> String {
    let markup: HTML = "\n\(field: text)"
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    // Not by characters: a mark may stand behind a sign, and belongs to none.
    let value = names.reduce(markup.markup.unicodeScalars) {
      $0.replacing($1.0.unicodeScalars, with: $1.1.unicodeScalars)
    }
    #expect(value.first == "\n" && !value.contains("\r"))
    var lines = value.dropFirst().split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0) }
    edit(&lines)
    return lines.joined(separator: "\r\n")
  }

  @Test(
    "A text comes back from a field as it was",
    arguments: [
      "a\nb\n", "a\nb", "", "\n", "\n\na\n", "a\r\nb\r\n", "ä\n\n\n", "a\r\nb\n", "a\rb", "\r",
      "\r\r\n\n", "Chapter 1\n\u{C}Chapter 2\n\u{1B}[1mbold\u{1B}[0m\nnel:\u{85}\nback\u{8}space\n",
      "\u{FEFF}a\u{2028}b\u{202E}\u{FE0F}&#13;&lt;\u{7F}\n", "&amp;lt;\n",
    ])
  func comesBack(text: String) throws {
    let bytes = Array(text.utf8)
    let editable = try #require(EditableText(bytes))
    #expect(editable.bytes(ofTyped: Self.sent(editable.text)) == bytes)
  }

  @Test(arguments: [
    ("a\n", "a\nb", "a\nb\n"), ("a\r\n", "a\nb", "a\r\nb\r\n"), ("a", "b", "b"), ("", "a", "a\n"),
    ("a\n", "", ""), ("a\rb\n", "a\nx\nb\n", "a\rx\rb\n"),
    ("a\r\nb\nc\n", "b\nc\n", "b\nc\n"),
  ])
  func `Lines go on ending as they did, and new ones as those beside them`(
    text: String, typed: String, expected: String
  ) throws {
    let editable = try #require(EditableText(Array(text.utf8)))
    #expect(editable.bytes(ofTyped: typed) == Array(expected.utf8))
  }

  /// A law: shown and sent back, a text is the same; where one line was edited, it alone is another.
  @Test("What nobody typed is not changed") func untyped() throws {
    var random = SplitMix64.reported()
    for _ in 0..<3_000 {
      let (text, lines) = Self.text(by: &random)
      let bytes = Self.whole(lines)
      let editable = try #require(EditableText(bytes))
      #expect(editable.bytes(ofTyped: Self.sent(editable.text)) == bytes, "\(text)")
      guard let edited = lines.indices.randomElement(using: &random) else { continue }
      var changed = lines
      changed[edited].text += "typed"
      let back = editable.bytes(ofTyped: Self.sent(editable.text) { $0[edited] += "typed" })
      #expect(back == Self.whole(changed), "\(text), line \(edited)")
    }
  }

  private typealias Line = (text: String, end: String)

  private static let pieces = [
    "a", "b", "ä", "🧀", " ", "\t", "\u{C}", "\u{B}", "\u{1B}", "\u{8}", "\u{85}", "\u{2028}",
    "\u{FEFF}", "&", "<", "&#10;", "'", "\u{202E}", "\u{FE0F}", "\u{7F}", "\u{301}",
  ]

  private static func whole(_ lines: [Line]) -> [UInt8] {
    lines.flatMap { Array($0.text.utf8) + Array($0.end.utf8) }
  }

  private static func text(by random: inout SplitMix64) -> (String, [Line]) {
    let kinds = [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]]
    let ends = kinds.randomElement(using: &random) ?? []
    var lines = (0..<Int.random(in: 0...6, using: &random)).map { _ -> Line in
      let length = Int.random(in: 0...4, using: &random)
      let text = (0..<length).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      return (text, ends.randomElement(using: &random) ?? "\n")
    }
    for place in lines.indices.dropFirst() where lines[place].text.isEmpty {
      // CR, and LF behind it, would be one end.
      if lines[place - 1].end == "\r", lines[place].end == "\n" { lines[place].end = "\r" }
    }
    if let last = lines.last, !last.text.isEmpty, Bool.random(using: &random) {
      lines[lines.count - 1].end = ""
    }
    return (lines.map { ($0.text + $0.end).debugDescription }.joined(separator: " "), lines)
  }
}
