// What lines look like: notes-merge(7), "Lines".
extension LineTable {
  func isBlank(_ line: Int32) -> Bool {
    self[line].allSatisfy { Token.isSpace($0) || $0 == UInt8(ascii: "\r") }
  }

  /// Whether a line starts with ``` or ~~~ after blanks.
  func isFence(_ line: Int32) -> Bool {
    let content = self[line].drop(while: Token.isSpace)
    return content.starts(with: "```".utf8) || content.starts(with: "~~~".utf8)
  }

  /// Whether a line holds a letter or a digit, and so is no ornament.
  func hasWords(_ line: Int32) -> Bool { self[line].contains(where: Token.isLetterOrDigit) }

  /// Whether a line is no code fence and holds three letters or more: ASCII letters, and bytes of
  /// other scripts.
  func hasLetters(_ line: Int32) -> Bool {
    self[line].lazy.filter(Token.isLetter).prefix(3).count == 3 && !isFence(line)
  }

  /// How many spaces and tabs a line begins with.
  func indentation(_ line: Int32) -> Int { self[line].prefix(while: Token.isSpace).count }

  /// Whether one of the sides opens a code fence that it does not close.
  func hasOpenFence(in sides: [[Int32]]) -> Bool {
    sides.contains { side in side.count(where: isFence) % 2 == 1 }
  }

  /// Whether all lines that are not blank have the same before their first letter or digit, as the
  /// lines of a list have.
  func isList(_ lines: [Int32]) -> Bool {
    Set(lines.lazy.filter { !isBlank($0) }.map { Token.mark(self[$0]) }).count == 1
  }

  /// Whether both sides hold the same line that has a letter or digit and is no code fence.
  func sharesLine(_ older: [Int32], _ newer: [Int32]) -> Bool {
    Set(older).intersection(newer).contains { hasWords($0) && !isFence($0) }
  }

  /// Whether two texts are the same but for spaces, tabs, CR and newlines.
  func areAlikeButForSpace(_ older: [Int32], _ newer: [Int32]) -> Bool {
    // Lazily: the lines may be as long as a note.
    func ink(_ lines: [Int32]) -> some Sequence<UInt8> {
      lines.lazy.flatMap { self[$0] }.filter { !Token.isSpace($0) && $0 != UInt8(ascii: "\r") }
    }
    return ink(older).elementsEqual(ink(newer))
  }

  /// The links of some lines: `://` and what follows it up to a space, a tab, a quote or a bracket,
  /// without full stops, commas, semicolons and slashes at the end.
  func links(_ lines: [Int32]) -> Set<ArraySlice<UInt8>> {
    var links: Set<ArraySlice<UInt8>> = []
    for line in lines {
      var rest = self[line]
      while let mark = rest.firstRange(of: "://".utf8) {
        let path = rest[mark.upperBound...].prefix { !" \t<>()[]\"'".utf8.contains($0) }
        rest = rest[max(path.endIndex, mark.lowerBound + 1)...]
        if path.isEmpty { continue }
        var link = mark.lowerBound..<path.endIndex
        while let last = link.last, "/.,;".utf8.contains(self[line][last]) {
          link = link.lowerBound..<last
        }
        links.insert(self[line][link])
      }
    }
    return links
  }

  /// Runs of two lines or more that are not blank, each as one line with a space between them.
  mutating func paragraphs(_ lines: [Int32]) -> [Int32] {
    lines.split(whereSeparator: isBlank).filter { $0.count > 1 }.map { run in
      number(of: Array(run.map { trimmed($0) }.joined(separator: " ".utf8))[...])
    }
  }

  private func trimmed(_ line: Int32) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { Token.isSpace(byte) || byte == UInt8(ascii: "\r") }
    var content = self[line].drop(while: isSpace)
    while let last = content.last, isSpace(last) { content.removeLast() }
    return content
  }
}
