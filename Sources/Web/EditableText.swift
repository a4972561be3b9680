/// A note's text as a browser's text field holds it: lines that end in LF. What such a field cannot give
/// back as it was is not editable there.
struct EditableText: Sendable {
  /// The text with LF line ends.
  let text: String
  private let endsLinesWithCR: Bool

  /// Nil where the bytes are no UTF-8, hold NUL, or end lines in different ways.
  init?(_ bytes: [UInt8]) {
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    let scalars = Array(text.unicodeScalars)
    let ends = scalars.indices.filter { scalars[$0] == "\n" }
    let pairs = ends.count { $0 > 0 && scalars[$0 - 1] == "\r" }
    let returns = scalars.count { $0 == "\r" }
    guard returns == pairs, pairs == 0 || pairs == ends.count else { return nil }
    endsLinesWithCR = pairs > 0
    self.text = Self.withPlainEnds(text)
  }

  /// What a field sent, as the note has it: with the line ends that it had. A text that ends its last
  /// line goes on doing so.
  func bytes(ofTyped typed: String) -> [UInt8] {
    var plain = Self.withPlainEnds(typed)
    let endsLine = text.isEmpty || text.unicodeScalars.last == "\n"
    if endsLine, !plain.isEmpty, plain.unicodeScalars.last != "\n" { plain += "\n" }
    guard endsLinesWithCR else { return Array(plain.utf8) }
    return plain.utf8.flatMap { $0 == UInt8(ascii: "\n") ? [13, 10] : [$0] }
  }

  /// Forms send CR LF for each line end, whatever the field held.
  private static func withPlainEnds(_ text: String) -> String {
    var plain = String.UnicodeScalarView()
    var rest = text.unicodeScalars.makeIterator()
    var last: Unicode.Scalar?
    while let scalar = rest.next() {
      if scalar == "\n", last == "\r" { plain.removeLast() }
      plain.append(scalar == "\r" ? "\n" : scalar)
      last = scalar
    }
    return String(plain)
  }
}
