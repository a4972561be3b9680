/// The merge of two sides by words: notes-merge(7), "Words".
enum WordMerge {
  /// How many unchanged tokens there are at least between edits of both sides: a whole word, or a
  /// word's end and a space.
  static let gap = 2

  /// The lines of the base with the edits of both sides; nil when these come too near each other.
  static func merge(
    base: [Int32], older: [Int32], newer: [Int32], table: inout LineTable
  ) -> [Int32]? {
    var tokens = LineTable()
    func numbers(_ lines: [Int32]) -> [Int32] {
      Token.words(in: table.text(of: lines)).map { tokens.number(of: $0) }
    }
    let (base, older, newer) = (numbers(base), numbers(older), numbers(newer))
    guard let olderHunks = TokenMatching.hunks(from: base, to: older),
      let newerHunks = TokenMatching.hunks(from: base, to: newer),
      let merged = combine(
        base: base, older: olderHunks.map { Edit(range: $0.a, text: Array(older[$0.b])) },
        newer: newerHunks.map { Edit(range: $0.a, text: Array(newer[$0.b])) })
    else { return nil }
    return table.lines(of: merged.flatMap { tokens[$0] })
  }

  private struct Edit: Equatable {
    var range: Range<Int>
    var text: [Int32]
  }

  /// Which sides an edit is of.
  private enum Sides {
    case older, newer
    /// Both made it.
    case equally
    /// They edited one stretch differently, and what one made of it holds what the other did.
    case differently
  }

  private static func combine(base: [Int32], older: [Edit], newer: [Edit]) -> [Int32]? {
    var result: [Int32] = []
    var position = 0
    var previous: (edit: Edit, sides: Sides)?
    var (i, j) = (0, 0)
    while i < older.count || j < newer.count {
      let (edit, sides) = next(
        i < older.count ? older[i] : nil, j < newer.count ? newer[j] : nil)
      if sides != .newer { i += 1 }
      if sides != .older { j += 1 }
      if let previous, sides != previous.sides || sides == .equally || sides == .differently {
        let distance = edit.range.lowerBound - previous.edit.range.upperBound
        let isShared = sides == .equally || previous.sides == .equally
        if distance < (isShared ? 0 : gap) { return nil }
        if distance == 0, edit.range.isEmpty, previous.edit.range.isEmpty { return nil }
      }
      result += base[position..<edit.range.lowerBound]
      result += edit.text
      position = edit.range.upperBound
      previous = (edit, sides)
    }
    return result + base[position...]
  }

  /// The edit that comes first; at least one of the two is there.
  private static func next(_ older: Edit?, _ newer: Edit?) -> (Edit, Sides) {
    guard let newer else { return (older ?? Edit(range: 0..<0, text: []), .older) }
    guard let older else { return (newer, .newer) }
    if older == newer { return (older, .equally) }
    if older.range == newer.range, !older.text.isEmpty, !newer.text.isEmpty,
      let larger = JoinedInsertions.larger(older.text, newer.text)
    {
      return (Edit(range: older.range, text: larger), .differently)
    }
    return older.range.precedes(newer.range) ? (older, .older) : (newer, .newer)
  }
}

extension Range<Int> {
  /// Whether it begins before another, or with it and ends before it.
  func precedes(_ other: Range<Int>) -> Bool {
    (lowerBound, upperBound) < (other.lowerBound, other.upperBound)
  }
}
