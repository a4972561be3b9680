internal import History

/// A note's text for a browser's text field, with LF line endings. A text that comes back unchanged is the
/// note's text, byte for byte. If it was edited, its unedited lines keep their line endings: notes-web(1),
/// "What a save is made on".
struct EditableText: Sendable {
  /// The text with LF line endings.
  let text: String
  private let bytes: [UInt8]
  private let shown: [UInt8]
  /// The line ending of each line of the note, including the last one if it has none.
  private let ends: [LineEnd]

  private enum LineEnd: String {
    case lf = "\n"
    case crlf = "\r\n"
    case cr = "\r"
  }

  /// Nil if a form cannot carry the bytes: they are not UTF-8, or contain NUL.
  init?(_ bytes: [UInt8]) {
    guard !bytes.contains(0) else { return nil }
    let (shown, ends) = Self.plain(bytes)
    guard let text = String(validating: shown, as: UTF8.self) else { return nil }
    (self.bytes, self.shown, self.ends, self.text) = (bytes, shown, ends, text)
  }

  /// The note's bytes for a text from the field. If the note ended with a newline, the result does,
  /// too.
  func bytes(ofTyped typed: String) -> [UInt8] {
    // Forms send CR LF for each line ending, whatever the field had.
    var plain = Self.plain(Array(typed.utf8)).bytes
    let lineFeed = UInt8(ascii: "\n")
    if shown.last ?? lineFeed == lineFeed, !plain.isEmpty, plain.last != lineFeed {
      plain.append(lineFeed)
    }
    if plain == shown { return bytes }
    guard ends.contains(where: { $0 != .lf }) else { return plain }
    let newEnds = ends(of: plain)
    var result: [UInt8] = []
    result.reserveCapacity(plain.count + newEnds.count)
    var line = 0
    for byte in plain {
      if byte == lineFeed {
        result += newEnds[line].rawValue.utf8
        line += 1
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// The ending of each line of an edited text. It is the line's former ending, or that of the line that it
  /// replaces, or of the line before it.
  private func ends(of plain: [UInt8]) -> [LineEnd] {
    let count = Self.plain(plain).ends.count
    if Set(ends).count == 1 { return Array(repeating: ends[0], count: count) }
    // With as many lines as before, the line at each position keeps its ending.
    if count == ends.count { return ends }
    var found: [LineEnd] = []
    var next = 0
    for hunk in LineDiff(from: shown, to: plain, context: 0).hunks {
      found += ends[next..<hunk.old.lowerBound]
      for place in hunk.new.indices {
        let old = hunk.old.lowerBound + place - hunk.new.lowerBound
        found.append(old < hunk.old.upperBound ? ends[old] : found.last ?? ends[0])
      }
      next = hunk.old.upperBound
    }
    return found + ends[next...]
  }

  /// A text with LF in place of CR LF and CR, as a field shows it, and its former line endings.
  private static func plain(_ text: [UInt8]) -> (bytes: [UInt8], ends: [LineEnd]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var ends: [LineEnd] = []
    var place = 0
    while place < text.count {
      switch text[place] {
      case UInt8(ascii: "\r"):
        let isPair = place + 1 < text.count && text[place + 1] == UInt8(ascii: "\n")
        ends.append(isPair ? .crlf : .cr)
        bytes.append(UInt8(ascii: "\n"))
        place += isPair ? 2 : 1
      case let byte:
        if byte == UInt8(ascii: "\n") { ends.append(.lf) }
        bytes.append(byte)
        place += 1
      }
    }
    if let last = bytes.last, last != UInt8(ascii: "\n") { ends.append(ends.last ?? .lf) }
    return (bytes, ends)
  }
}
