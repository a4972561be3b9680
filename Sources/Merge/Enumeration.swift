/// Things that both sides added at one place of a line that lists things: notes-merge(7), "Smaller
/// parts".
enum Enumeration {
  // Comma, semicolon, and the commas of Chinese and Japanese.
  private static let separators: [[UInt8]] = [
    [0x2C], [0x3B], [0xE3, 0x80, 0x81], [0xEF, 0xBC, 0x8C],
  ]

  /// How many separators a line has at least that counts as an enumeration.
  private static let fewestSeparators = 2

  /// The tokens of both insertions, the older's first; nil where this is no enumeration or the two
  /// look like versions of one thing.
  static func join(
    _ older: EditCombination.Edit, _ newer: EditCombination.Edit, _ base: [Int32],
    _ tokens: LineTable
  ) -> [Int32]? {
    let isNewline: (Int32) -> Bool = { tokens[$0].elementsEqual([0x0A]) }
    guard older.range.isEmpty, newer.range.isEmpty, let olderLast = last(older.text, tokens),
      let newerLast = last(newer.text, tokens), !older.text.contains(where: isNewline),
      !newer.text.contains(where: isNewline)
    else { return nil }
    let place = older.range.lowerBound
    let line =
      base[..<place].reversed().prefix { !isNewline($0) } + base[place...].prefix { !isNewline($0) }
    func separates(_ token: Int32) -> Bool {
      separators.contains { tokens[token].elementsEqual($0) }
        && line.count { $0 == token } >= fewestSeparators
    }
    guard
      older.text[0] == newer.text[0] && separates(older.text[0])
        || olderLast == newerLast && separates(olderLast)
    else { return nil }
    var texts = LineTable()
    let sides = [older, newer].map { [texts.number(of: $0.text.flatMap { tokens[$0] }[...])] }
    return SimilarLines.arePresent(in: sides[0], and: sides[1], texts)
      ? nil : older.text + newer.text
  }

  /// The last token of a text that is not a run of spaces, if it has more than that.
  private static func last(_ text: [Int32], _ tokens: LineTable) -> Int32? {
    let isSpace = text.last.map { tokens[$0].allSatisfy(Token.isSpace) } ?? false
    return isSpace && text.count > 1 ? text[text.count - 2] : text.last
  }
}
