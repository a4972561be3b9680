// The signs that two edits are versions of one thing, or that a merge of both would say something
// twice: notes-merge(7), "Joined insertions".
extension LineTable {
  func isBlank(_ line: Int32) -> Bool {
    self[line].allSatisfy { Token.isSpace($0) || $0 == UInt8(ascii: "\r") }
  }

  /// Whether a line holds three letters or more: ASCII letters, and bytes of other scripts.
  func hasLetters(_ line: Int32) -> Bool {
    self[line].lazy.filter(Token.isLetter).prefix(3).count == 3
  }

  /// Whether one of the sides opens a code fence (a line that starts with ``` or ~~~ after blanks)
  /// that it does not close.
  func hasOpenFence(in sides: [[Int32]]) -> Bool {
    sides.contains { side in
      side.indices.count { index in
        let content = self[side[index]].drop(while: Token.isSpace)
        return (content.starts(with: "```".utf8) || content.starts(with: "~~~".utf8))
          && !(index > 0 && Self.isUnderline(self[side[index]], of: self[side[index - 1]]))
      } % 2 == 1
    }
  }

  /// Whether a line has nothing but tildes, one for each character of the line before.
  private static func isUnderline(_ line: ArraySlice<UInt8>, of text: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == UInt8(ascii: "~") } && line.count == text.count { $0 & 0xC0 != 0x80 }
  }

  /// Whether all lines that are not blank have the same before their first letter or digit, as the
  /// lines of a list have.
  func isList(_ lines: [Int32]) -> Bool {
    Set(lines.lazy.filter { !isBlank($0) }.map { Token.mark(self[$0]) }).count == 1
  }

  /// Whether both sides hold the same line of three letters or more.
  func sharesLine(_ older: [Int32], _ newer: [Int32]) -> Bool {
    Set(older).intersection(newer).contains(where: hasLetters)
  }
}
