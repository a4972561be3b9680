/// The signs that two edits are versions of one thing, or that a merge of both would say something
/// twice: notes-merge(7), "Guards".
enum LineGuards {
  /// Whether a line holds nothing but spaces and tabs.
  static func isBlank(_ line: Int32, _ table: LineTable) -> Bool {
    table[line].allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 13 }
  }

  /// Whether a line holds three letters or more: ASCII letters, and bytes of other scripts.
  static func hasLetters(_ line: Int32, _ table: LineTable) -> Bool {
    var letters = 0
    for byte in table[line] where Token.isLetter(byte) {
      letters += 1
      if letters == 3 { return true }
    }
    return false
  }

  /// Whether one of the sides opens a code fence (a line that starts with ``` or ~~~ after blanks)
  /// that it does not close.
  static func holdOpenFence(_ sides: [[Int32]], _ table: LineTable) -> Bool {
    sides.contains { side in
      side.indices.count { index in
        let content = table[side[index]].drop {
          $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")
        }
        return (content.starts(with: "```".utf8) || content.starts(with: "~~~".utf8))
          && !(index > 0 && isUnderline(table[side[index]], of: table[side[index - 1]]))
      } % 2 == 1
    }
  }

  /// Whether a line has nothing but tildes, one for each character of the line before.
  private static func isUnderline(_ line: ArraySlice<UInt8>, of text: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == UInt8(ascii: "~") }
      && line.count == text.count { $0 & 0xC0 != 0x80 }
  }

  /// Whether all lines that are not blank have the same before their first letter or digit, as the
  /// lines of a list have.
  static func isList(_ lines: [Int32], _ table: LineTable) -> Bool {
    let marks = lines.lazy.filter { !isBlank($0, table) }.map { SortedContext.mark(table[$0]) }
    guard let first = marks.first else { return false }
    return marks.allSatisfy { $0.elementsEqual(first) }
  }

  /// Whether both sides hold the same line of three letters or more.
  static func shareLine(_ older: [Int32], _ newer: [Int32], _ table: LineTable) -> Bool {
    let lines = Set(older)
    return newer.contains { lines.contains($0) && hasLetters($0, table) }
  }
}
