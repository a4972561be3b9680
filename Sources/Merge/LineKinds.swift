// The kinds of lines: notes-merge(7), "Lines".
extension LineTable {
  func isBlank(_ line: Int32) -> Bool {
    self[line].allSatisfy { Token.isSpace($0) || $0 == UInt8(ascii: "\r") }
  }

  /// Whether a line starts with ``` or ~~~ after white space.
  func isFence(_ line: Int32) -> Bool {
    let content = self[line].drop(while: Token.isSpace)
    return content.starts(with: "```".utf8) || content.starts(with: "~~~".utf8)
  }

  /// Whether a line has a letter or a digit, and so is not an ornament.
  func hasWords(_ line: Int32) -> Bool { self[line].contains(where: Token.isLetterOrDigit) }

  /// Whether a line is not a code fence and has at least three letters: ASCII letters, or bytes of
  /// other scripts.
  func hasLetters(_ line: Int32) -> Bool {
    self[line].lazy.filter(Token.isLetter).prefix(3).count == 3 && !isFence(line)
  }

  /// How many spaces and tabs are at the beginning of a line.
  func indentation(_ line: Int32) -> Int { self[line].prefix(while: Token.isSpace).count }

  /// Whether one of the sides opens a code fence that it does not close.
  func hasOpenFence(in sides: [[Int32]]) -> Bool {
    sides.contains { side in side.count(where: isFence) % 2 == 1 }
  }

  /// Whether all lines that are not blank have the same bytes before their first letter or digit,
  /// like the lines of a list.
  func isList(_ lines: [Int32]) -> Bool {
    Set(lines.lazy.filter { !isBlank($0) }.map { Token.mark(self[$0]) }).count == 1
  }

  /// Whether both sides have a common line that has a letter or digit and is not a code fence.
  func sharesLine(_ older: [Int32], _ newer: [Int32]) -> Bool {
    Set(older).intersection(newer).contains { hasWords($0) && !isFence($0) }
  }

  /// Whether two texts have the same words, paragraphs, hard breaks and indentation, and only other
  /// line breaks.
  func areWrapped(_ older: [Int32], _ newer: [Int32]) -> Bool {
    let (a, b) = (text(of: older), text(of: newer))
    func isWhite(_ byte: UInt8) -> Bool {
      Token.isSpace(byte) || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }
    var (i, j) = (0, 0)
    while true {
      let (x, y) = (a[i...].prefix(while: isWhite), b[j...].prefix(while: isWhite))
      let before = i > 0 ? a[i - 1] : nil
      (i, j) = (x.endIndex, y.endIndex)
      let after = i < a.count ? a[i] : nil
      guard after == (j < b.count ? b[j] : nil) else { return false }
      if x != y, !WhiteSpace(x, before, after).isWrapped(WhiteSpace(y, before, after)) {
        return false
      }
      if after == nil { return true }
      (i, j) = (i + 1, j + 1)
    }
  }

  /// The level of a heading; 100 for any other line.
  func headingLevel(_ line: Int32) -> Int {
    let text = self[line]
    guard let mark = text.first, mark == UInt8(ascii: "#") || mark == UInt8(ascii: "*") else {
      return 100
    }
    let level = text.prefix { $0 == mark }.count
    let isHeading = mark == UInt8(ascii: "#") ? level <= 6 : level > 1
    return isHeading && text.dropFirst(level).first.map(Token.isSpace) == true ? level : 100
  }

  /// Whether the second text may follow the first without getting under a wrong heading.
  func mayFollow(_ first: [Int32], _ second: [Int32]) -> Bool {
    var (highest, isCode) = (100, false)
    for line in first {
      if isFence(line) { isCode.toggle() }
      if !isCode { highest = min(highest, headingLevel(line)) }
    }
    return second.first { !isBlank($0) }.map(headingLevel) ?? 100 <= highest
  }

  /// Whether a line is an org date, which belongs to the line above.
  func isOfLineAbove(_ line: Int32) -> Bool {
    let text = self[line].drop(while: Token.isSpace)
    return ["SCHEDULED", "DEADLINE", "CLOSED"].contains { text.starts(with: $0.utf8) }
  }

  /// Runs of two or more lines that are not blank, each joined into one line with spaces.
  mutating func paragraphs(_ lines: [Int32]) -> [Int32] {
    lines.split(whereSeparator: isBlank).filter { $0.count > 1 }.map { run in
      number(of: Array(run.map { trimmed($0) }.joined(separator: " ".utf8))[...])
    }
  }

  /// A line without spaces, tabs and CR at its ends.
  func trimmed(_ line: Int32) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { Token.isSpace(byte) || byte == UInt8(ascii: "\r") }
    var content = self[line].drop(while: isSpace)
    while let last = content.last, isSpace(last) { content.removeLast() }
    return content
  }
}

/// The white space at a place in a text.
private struct WhiteSpace {
  private let lines: [Int]
  private let isEmpty: Bool
  private let indentation: ArraySlice<UInt8>
  private let isFirst: Bool
  /// Whether the white space separates two words.
  private let isBetweenWords: Bool

  init(_ space: ArraySlice<UInt8>, _ before: UInt8?, _ after: UInt8?) {
    let lines = space.filter { $0 != UInt8(ascii: "\r") }
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    self.lines = lines.map(\.count)
    isEmpty = space.isEmpty
    indentation = after == nil ? [] : lines.last ?? []
    isFirst = before == nil
    isBetweenWords =
      before.map(Token.isLetterOrDigit) ?? false && after.map(Token.isLetterOrDigit) ?? false
  }

  private var isHardBreak: Bool { lines.count == 2 && lines[0] > 1 }

  /// Whether the white space differs from another at most by line breaks.
  func isWrapped(_ other: WhiteSpace) -> Bool {
    if isFirst || lines.count > 1 && other.lines.count > 1 {
      return isHardBreak == other.isHardBreak && lines.count == other.lines.count
        && indentation == other.indentation
    }
    return lines.count <= 2 && other.lines.count <= 2
      && !(isBetweenWords && (isEmpty || other.isEmpty))
  }
}
