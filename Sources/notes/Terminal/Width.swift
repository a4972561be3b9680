enum Width {
  static func of(_ text: String) -> Int {
    // Printable ASCII needs no Unicode tables.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// The columns of a text with styles from `Terminal.paint`.
  static func of(painted text: String) -> Int {
    var pieces = text.split(separator: "\u{1B}[", omittingEmptySubsequences: false)[...]
    let start = pieces.popFirst().map { of(String($0)) } ?? 0
    return pieces.reduce(start) { $0 + of(String($1.drop { $0 != "m" }.dropFirst())) }
  }

  /// The columns of one user-perceived character: 0, 1 or 2.
  static func of(_ character: Character) -> Int {
    // The emoji presentation selector makes a narrow symbol wide.
    if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    return character.unicodeScalars.lazy.map(of).max() ?? 0
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value < 0x20 || (0x7F..<0xA0).contains(value) ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator:
      return 0
    default: break
    }
    return isWide(value) || scalar.properties.isEmojiPresentation ? 2 : 1
  }

  /// East Asian Wide and Fullwidth (Unicode Standard Annex 11), as ranges with their neighbours.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1B000...0x1B2FF,
      0x1F1E6...0x1F202, 0x1F210...0x1F23B, 0x1F240...0x1F248, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  static func cut(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    guard columns > 0 else { return "" }
    var used = 0
    let kept = text.prefix { character in
      used += of(character)
      return used < columns
    }
    return kept + "…"
  }

  static func pad(_ text: String, to columns: Int) -> String {
    text + String.spaces(columns - of(text))
  }
}

extension String {
  static func spaces(_ count: Int) -> String { String(repeating: " ", count: Swift.max(0, count)) }

  var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
