/// The line endings of a text and of its last line. Both are merged separately from the lines: notes-merge(7),
/// "Line endings".
struct LineEndings: Hashable, Sendable {
  enum Style: Hashable, Sendable {
    /// The text has no newline.
    case undetermined
    case lf
    case crlf
    case mixed
  }

  var style: Style
  /// Nil for an empty text.
  var endsInNewline: Bool?
}

extension LineEndings {
  init(of text: [UInt8]) {
    var lf = 0
    var crlf = 0
    var previous: UInt8 = 0
    for byte in text {
      if byte == UInt8(ascii: "\n") {
        if previous == UInt8(ascii: "\r") { crlf += 1 } else { lf += 1 }
      }
      previous = byte
    }
    style = lf == 0 ? (crlf == 0 ? .undetermined : .crlf) : (crlf == 0 ? .lf : .mixed)
    endsInNewline = text.isEmpty ? nil : previous == UInt8(ascii: "\n")
  }

  /// The line endings of a merge, and whether it ends with a newline. Each is the alternating sum over the
  /// texts. If a sum has no single result, there is a final newline, and the endings are `\n`, or `\r\n` if a
  /// text has these and none has `\n`.
  static func merged(positives: [LineEndings], negatives: [LineEndings]) -> LineEndings {
    let style = sum(positives.map(\.style), negatives.map(\.style)) { $0 != .undetermined }
    let ending = sum(positives.map(\.endsInNewline), negatives.map(\.endsInNewline)) { $0 != nil }
    let isCRLF = positives.contains { $0.style == .crlf } && !positives.contains { $0.style == .lf }
    return LineEndings(
      style: style ?? (isCRLF ? .crlf : .lf), endsInNewline: (ending ?? nil) ?? true)
  }

  private static func sum<Value: Hashable>(
    _ positives: [Value], _ negatives: [Value], counts: (Value) -> Bool
  ) -> Value? {
    let remaining = Cancellation(positives: positives, negatives: negatives)
    let values = remaining.positives.map { positives[$0] }.filter(counts)
    return values.count == 1 ? values[0] : nil
  }

  /// The text with every `\r\n` replaced by `\n`.
  static func withoutCarriageReturns(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for byte in text {
      if byte == UInt8(ascii: "\n"), result.last == UInt8(ascii: "\r") { result.removeLast() }
      result.append(byte)
    }
    return result
  }

  /// A text with `\n` endings, converted to this form.
  func apply(to text: consuming [UInt8], keepsFinalNewline: Bool) -> [UInt8] {
    if endsInNewline == false, !keepsFinalNewline, text.last == UInt8(ascii: "\n") {
      text.removeLast()
    }
    guard style == .crlf else { return text }
    var result: [UInt8] = []
    for byte in text {
      if byte == UInt8(ascii: "\n") { result.append(UInt8(ascii: "\r")) }
      result.append(byte)
    }
    return result
  }
}
