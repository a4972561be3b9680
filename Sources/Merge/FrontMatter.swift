/// Front matter at the beginning of lines: notes-merge(7), "Front matter".
struct FrontMatter {
  /// The first line of the front matter, its last line, and the lines between.
  private let first: Int32
  private let last: Int32
  private let inner: [Int32]
  /// The lines after the front matter.
  private let rest: [Int32]

  /// The lines that can end front matter with this first line; empty if it cannot begin front
  /// matter.
  static func ends(behind first: Int32?, _ table: LineTable) -> [[UInt8]] {
    switch first.map({ Array(table[$0]) }) {
    case Array("---".utf8): [Array("---".utf8), Array("...".utf8)]
    case Array("+++".utf8): [Array("+++".utf8)]
    default: []
    }
  }

  /// Nil if the lines do not begin with front matter.
  init?(_ lines: [Int32], _ table: LineTable) {
    let ends = Self.ends(behind: lines.first, table)
    guard !ends.isEmpty,
      let end = lines.dropFirst().firstIndex(where: { ends.contains(Array(table[$0])) })
    else { return nil }
    (first, last) = (lines[0], lines[end])
    (inner, rest) = (Array(lines[1..<end]), Array(lines[(end + 1)...]))
  }

  /// One front matter with the keys of both, and the merge of the lines after it; a conflict block
  /// if they cannot be joined. Nil if the two are written in different languages.
  func joined(
    with newer: FrontMatter, base: [Int32], in context: InsertionContext, rules: MergeRules,
    table: inout LineTable
  ) -> FineRegion.Outcome? {
    guard first == newer.first else { return nil }
    let keys = [inner, newer.inner].map { lines in
      Set(lines.compactMap { InsertionContext.key(table[$0]) })
    }
    var added = newer.inner
    var isClash = !keys[0].isDisjoint(with: keys[1])
    // Lines without a key belong to the key above them. If there are such lines, a key on both sides is a conflict,
    // even with equal values.
    if keys[0].count == inner.count, keys[1].count == added.count {
      added.removeAll { inner.contains($0) }
      isClash = added.contains { line in
        InsertionContext.key(table[line]).map(keys[0].contains) ?? false
      }
    }
    // Keys after a TOML table belong to that table.
    let hasTable = (inner + newer.inner).contains { table[$0].first == UInt8(ascii: "[") }
    let both: FineRegion.Piece =
      isClash || hasTable
      ? .open(older: inner, newer: newer.inner) : .settled(inner + added)
    var outcome = FineRegion.threeWay(
      base: base, older: rest, newer: newer.rest,
      context: context.replacing(by: base, behind: [first, last]), rules: rules, table: &table)
    outcome.pieces = [.settled([first]), both, .settled([last])] + outcome.pieces
    outcome.rules.insert(.joinedInsertions)
    return outcome
  }
}
