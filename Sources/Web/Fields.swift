internal import System

/// Names and values of a query or a form: `application/x-www-form-urlencoded`.
struct Fields: Sendable {
  private var values: [String: String] = [:]

  /// A form with more fields than a page has is invalid.
  static let most = 4_096

  init(_ values: [(String, String)] = []) {
    self.values = Dictionary(values) { first, _ in first }
  }

  /// Nil if the form is invalid: bad UTF-8, too many fields, or a repeated one.
  init?(parsing text: some Collection<UInt8>) {
    for part in text.split(separator: UInt8(ascii: "&")) {
      let halves = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = halves.first, let name = Self.decoded(first),
        let value = Self.decoded(halves.count > 1 ? halves[1] : part[part.endIndex...]),
        values.count < Self.most, values.updateValue(value, forKey: name) == nil
      else { return nil }
    }
  }

  subscript(_ name: String) -> String? { values[name] }

  /// The text of a field, without the spaces around it; nil if it is empty.
  func typed(_ name: String) -> String? {
    let value = values[name] ?? ""
    let first = value.firstIndex { !$0.isWhitespace } ?? value.endIndex
    let text = value[first...]
    let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
    return end == first ? nil : String(text[..<end])
  }

  private static func decoded(_ part: some Collection<UInt8>) -> String? {
    String(percentEncoded: part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
  }
}
