/// The merge of two sides by words: notes-merge(7), "Words".
enum WordMerge {
  /// The minimum number of unchanged tokens between edits of both sides: a whole word, or a word's
  /// end and a space.
  static let gap = 2

  /// The lines of the base with the edits of both sides; nil if the edits are too close to each
  /// other.
  static func merge(
    base: [Int32], older: [Int32], newer: [Int32], table: inout LineTable
  ) -> [Int32]? {
    var tokens = LineTable()
    func numbers(_ lines: [Int32]) -> [Int32] {
      Token.words(in: table.text(of: lines)).map { tokens.number(of: $0) }
    }
    let (base, older, newer) = (numbers(base), numbers(older), numbers(newer))
    guard let olderHunks = TokenMatching.hunks(from: base, to: older),
      let newerHunks = TokenMatching.hunks(from: base, to: newer)
    else { return nil }
    func edits(_ hunks: [Hunk], from side: [Int32]) -> [TokenEdit] {
      hunks.map { TokenEdit($0.a, Array(side[$0.b]), in: base, tokens) }
    }
    let both = (older: edits(olderHunks, from: older), newer: edits(newerHunks, from: newer))
    if EditedLines.makeOver(base, both.older, both.newer, tokens) { return nil }
    guard let merged = combine(base: base, older: both.older, newer: both.newer, &tokens) else {
      return nil
    }
    return table.lines(of: merged.flatMap { tokens[$0] })
  }

  /// The sides that made an edit.
  private enum Sides {
    case older, newer
    /// Both sides made the same edit.
    case equally
    /// The sides edited the same words differently, but one side's result includes the other's edit.
    case differently
  }

  private static func combine(
    base: [Int32], older: [TokenEdit], newer: [TokenEdit], _ tokens: inout LineTable
  ) -> [Int32]? {
    var result: [Int32] = []
    var position = 0
    var previous: (edit: TokenEdit, sides: Sides)?
    var (i, j) = (0, 0)
    while i < older.count || j < newer.count {
      let (edit, sides) = next(
        i < older.count ? older[i] : nil, j < newer.count ? newer[j] : nil)
      if sides != .newer { i += 1 }
      if sides != .older { j += 1 }
      if let last = previous, sides != last.sides || sides == .equally || sides == .differently {
        let distance = edit.range.lowerBound - last.edit.range.upperBound
        if distance == 0, edit.range.isEmpty, last.edit.range.isEmpty {
          guard let list = ListOfWords(base, before: position, tokens),
            let addition = list.addition(
              of: edit.text, to: last.edit.text,
              before: position < base.count ? base[position] : nil, &tokens)
          else { return nil }
          result += addition
          previous = (edit, .differently)
          continue
        }
        let mayTouch =
          sides == .equally || last.sides == .equally
          || edit.isSpace || last.edit.isSpace
        if distance < (mayTouch ? 0 : gap) { return nil }
      }
      result += base[position..<edit.range.lowerBound]
      result += edit.text
      position = edit.range.upperBound
      previous = (edit, sides)
    }
    return result + base[position...]
  }

  /// The edit that comes first; at least one of the two is not nil.
  private static func next(_ older: TokenEdit?, _ newer: TokenEdit?) -> (TokenEdit, Sides) {
    guard let newer else { return (older ?? TokenEdit(0..<0, [], in: [], LineTable()), .older) }
    guard let older else { return (newer, .newer) }
    if older == newer { return (older, .equally) }
    if older.range == newer.range, !older.text.isEmpty, !newer.text.isEmpty,
      let larger = JoinedInsertions.larger(older.text, newer.text)
    {
      return (larger == older.text ? older : newer, .differently)
    }
    return newer.range.precedes(older.range) ? (newer, .newer) : (older, .older)
  }
}

/// The edit of some tokens of the base by one side.
struct TokenEdit: Equatable {
  let range: Range<Int>
  let text: [Int32]
  /// Whether the edit removes and inserts only white space.
  let isSpace: Bool
  /// Whether the edit's tokens include a digit and no letter.
  let isNumber: Bool
  /// Whether the edit's tokens include a newline.
  let isOfLines: Bool

  init(_ range: Range<Int>, _ text: [Int32], in base: [Int32], _ tokens: LineTable) {
    let bytes = (base[range] + text).flatMap { tokens[$0] }
    self.range = range
    self.text = text
    isSpace = bytes.allSatisfy { Token.isSpace($0) || $0 == UInt8(ascii: "\n") }
    isNumber =
      bytes.contains(where: Token.isLetterOrDigit) && !bytes.contains(where: Token.isLetter)
    isOfLines = bytes.contains(UInt8(ascii: "\n"))
  }
}

/// The lines of a base that both sides edit by words.
private enum EditedLines {
  /// The most words of a short line, such as a task: a side must keep more than half of them.
  static let shortLine = 10

  /// Whether one side edits a line of which the other keeps less than half of the words; or one
  /// edits the beginning of a line in which the other adds or removes a line break; or both edit
  /// only numbers.
  static func makeOver(
    _ base: [Int32], _ older: [TokenEdit], _ newer: [TokenEdit], _ tokens: LineTable
  ) -> Bool {
    var start = 0
    var (older, newer) = (older[...], newer[...])
    for (first, end) in lineEnds(base, tokens) {
      let line = start..<end
      start = end
      let sides = (edits(of: line, &older), edits(of: line, &newer))
      if sides.0.isEmpty || sides.1.isEmpty { continue }
      var words = (line.lowerBound..<first).filter { tokens.hasWords(base[$0]) }
      if let sign = words.first, tokens[base[sign]].allSatisfy(isSign) { words.removeFirst() }
      let head = (words.first ?? first - 1) + 1
      let only = (
        sides.0.filter { !sides.1.contains($0) }, sides.1.filter { !sides.0.contains($0) }
      )
      if makeOver(words, head: head, only.0, only.1) || makeOver(words, head: head, only.1, only.0)
      {
        return true
      }
    }
    return false
  }

  /// Whether a byte belongs to a number, or to a word in capital letters. A first word of such bytes is a label
  /// for the rest of the line.
  private static func isSign(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  /// The end of each line, on its own and with the org dates below it.
  private static func lineEnds(_ base: [Int32], _ tokens: LineTable) -> [(first: Int, end: Int)] {
    var ends: [(first: Int, end: Int)] = []
    var start = 0
    for end in base.indices.filter({ tokens[base[$0]].first == UInt8(ascii: "\n") }).map({ $0 + 1 })
    {
      let word = base[start..<end].first { !tokens[$0].allSatisfy(Token.isSpace) }
      let isPart = start > 0 && word.map { tokens.isOfLineAbove($0) } ?? false
      if isPart { ends[ends.count - 1].end = end } else { ends.append((end, end)) }
      start = end
    }
    return ends
  }

  /// The edits of a line. Removes those of earlier lines from `side`.
  private static func edits(
    of line: Range<Int>, _ side: inout ArraySlice<TokenEdit>
  ) -> [TokenEdit] {
    side = side.drop { edit in
      edit.range.upperBound <= line.lowerBound && edit.range.lowerBound < line.lowerBound
    }
    return Array(side.prefix { $0.range.lowerBound < line.upperBound })
  }

  private static func makeOver(
    _ words: [Int], head: Int, _ own: [TokenEdit], _ others: [TokenEdit]
  ) -> Bool {
    let own = own.filter { !$0.isSpace }
    let said = others.filter { !$0.isSpace }
    if own.isEmpty || others.isEmpty { return false }
    if !said.isEmpty, (own + said).allSatisfy(\.isNumber) { return true }
    let gone = words.count { word in others.contains { $0.range.contains(word) } }
    if 2 * gone + (words.count <= shortLine ? 1 : 0) > words.count { return true }
    return own.contains { $0.range.lowerBound < head && $0.range.upperBound <= head }
      && said.contains(where: \.isOfLines)
  }
}

extension Range<Int> {
  /// Whether the edit begins before another, or at the same position and ends before it.
  func precedes(_ other: Range<Int>) -> Bool {
    (lowerBound, upperBound) < (other.lowerBound, other.upperBound)
  }
}
