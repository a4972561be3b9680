internal import History

/// A note's text as a browser's text field has it: lines that end in LF. A text that comes back unchanged is
/// the note's text byte for byte; in another text the lines that nobody edited stay as they were:
/// notes-web(1), "What a save is made on".
struct EditableText: Sendable {
  /// The text with LF line ends.
  let text: String
  private let bytes: [UInt8]
  private let shown: [UInt8]
  /// How each line of the note ends, the last one as well if nothing ends it.
  private let ends: [LineEnd]

  private enum LineEnd {
    case lf, crlf, cr

    var bytes: [UInt8] {
      switch self {
      case .lf: [UInt8(ascii: "\n")]
      case .crlf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
      case .cr: [UInt8(ascii: "\r")]
      }
    }
  }

  /// Nil if a form cannot carry the bytes: they are not UTF-8, or contain NUL.
  init?(_ bytes: [UInt8]) {
    guard !bytes.contains(0) else { return nil }
    let (shown, ends) = Self.plain(bytes)
    guard let text = String(validating: shown, as: UTF8.self) else { return nil }
    (self.bytes, self.shown, self.ends, self.text) = (bytes, shown, ends, text)
  }

  /// The note's bytes after a field sent a text. If the note ended its last line, the result does too.
  func bytes(ofTyped typed: String) -> [UInt8] {
    // Forms send CR LF for each line end, whatever the field held.
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
        result += newEnds[line].bytes
        line += 1
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// How each line of an edited text ends: as before, or as the line that it replaces, or as the line before
  /// it.
  private func ends(of plain: [UInt8]) -> [LineEnd] {
    let count = Self.plain(plain).ends.count
    if Set(ends).count == 1 { return Array(repeating: ends[0], count: count) }
    // Replacing lines changes no line beside them, whichever lines are equal.
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

  /// A text with LF line ends, as a field makes them of CR LF and CR, and how its lines ended.
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
