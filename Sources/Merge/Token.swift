/// The division of a region into tokens for fine-grained merging: notes-merge(7), "Matching
/// tokens".
package enum Token {
  /// An ASCII letter, or any byte of a character outside ASCII.
  static func isLetter(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// An ASCII letter or digit, or any byte of a character outside ASCII.
  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// The bytes before a line's first letter or digit.
  static func mark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.prefix { !isLetterOrDigit($0) }
  }

  /// The mark that makes a line an item of a list: spaces and tabs, one of `-*+`, and a space; nil if the
  /// line is not an item.
  static func itemMark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let item = line.drop(while: isSpace)
    guard let mark = item.first, "-*+".utf8.contains(mark),
      item.dropFirst().first == UInt8(ascii: " ")
    else { return nil }
    return line[..<(item.startIndex + 2)]
  }

  /// The size of the punctuation mark at `index` in bytes; 0 if a word starts there. Outside ASCII
  /// the marks are U+2000…U+206F, U+3000…U+303F and U+FF01…U+FF0F.
  private static func punctuation(_ text: [UInt8], _ index: Int) -> Int {
    let byte = text[index]
    if byte < 0x80 { return isLetterOrDigit(byte) || byte == UInt8(ascii: "_") ? 0 : 1 }
    guard index + 2 < text.count else { return 0 }
    switch (byte, text[index + 1], text[index + 2]) {
    case (0xE2, 0x80, _), (0xE2, 0x81, 0x80...0xAF), (0xE3, 0x80, _), (0xEF, 0xBC, 0x81...0x8F):
      return 3
    default: return 0
    }
  }

  /// Words, single newlines, other runs of white space, and single punctuation marks.
  package static func words(in text: [UInt8]) -> [ArraySlice<UInt8>] {
    var tokens: [ArraySlice<UInt8>] = []
    var index = 0
    while index < text.count {
      let start = index
      if text[index] == UInt8(ascii: "\n") {
        index += 1
      } else if isSpace(text[index]) {
        while index < text.count, isSpace(text[index]) { index += 1 }
      } else if punctuation(text, index) > 0 {
        index += punctuation(text, index)
      } else {
        while index < text.count, !isSpace(text[index]), text[index] != UInt8(ascii: "\n"),
          punctuation(text, index) == 0
        { index += 1 }
      }
      tokens.append(text[start..<index])
    }
    return tokens
  }
}
