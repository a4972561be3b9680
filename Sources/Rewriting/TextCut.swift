internal import System

/// The replacement of each forgotten text: notes-forget(1).
package enum Placeholder {
  package static let text = "[forgotten]"
  static let bytes = Array(text.utf8)
}

/// Replaces exact texts in bytes by a placeholder each.
package struct TextCut: Hashable, Sendable {
  /// A shorter text would be in half of all notes by chance.
  package static let shortest = 4

  let text: [UInt8]

  /// Nil for a text that is too short, or is a part of the placeholder.
  package init?(_ text: [UInt8]) {
    guard text.count >= Self.shortest, Placeholder.bytes.firstRange(of: text) == nil else {
      return nil
    }
    self.text = text
  }

  package func isIn(_ content: [UInt8]) -> Bool { content.firstRange(of: text) != nil }

  /// The content without the text; nil if it does not contain the text.
  func applied(to content: [UInt8]) -> [UInt8]? {
    // A placeholder and the bytes beside it may form the text again. Each turn removes at least one byte
    // that belongs to no placeholder, so this ends.
    guard var result = pass(over: content) else { return nil }
    while let next = pass(over: result) { result = next }
    return result
  }

  private func pass(over content: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var start = 0
    while let found = content.firstRange(of: text, from: start) {
      let range = withPlaceholders(found, in: content, from: start)
      result += content[start..<range.lowerBound] + Placeholder.bytes
      start = range.upperBound
    }
    return start == 0 ? nil : result + content[start...]
  }

  /// The range, extended to the whole of the placeholders that it overlaps.
  private func withPlaceholders(
    _ range: Range<Int>, in content: [UInt8], from start: Int
  ) -> Range<Int> {
    let size = Placeholder.bytes.count
    func placeholder(over border: Int) -> Range<Int>? {
      (max(start, border - size + 1)..<max(start, border)).lazy.map { $0..<($0 + size) }.first {
        $0.upperBound <= content.count && content[$0].elementsEqual(Placeholder.bytes)
      }
    }
    let lower = placeholder(over: range.lowerBound)?.lowerBound ?? range.lowerBound
    let upper = placeholder(over: range.upperBound)?.upperBound ?? range.upperBound
    return lower..<max(upper, range.upperBound)
  }
}

extension [TextCut] {
  /// The content without these texts; nil if it contains none of them.
  package func applied(to content: [UInt8]) -> [UInt8]? {
    reduce(nil) { result, text in text.applied(to: result ?? content) ?? result }
  }
}

/// Replaces whole lines in bytes by a placeholder each.
package struct LineCut: Hashable, Sendable {
  /// The lines to replace, without their newlines.
  package let lines: Set<[UInt8]>

  /// Skips lines that are too short to be distinctive.
  package init(_ lines: some Sequence<[UInt8]>) {
    self.lines = Set(
      lines.filter { $0.count >= TextCut.shortest && $0 != Placeholder.bytes })
  }

  /// The lines of a text, without their newlines.
  package static func lines(of content: [UInt8]) -> [[UInt8]] {
    content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      Array($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0)
    }
  }

  /// The content without the lines; nil if it has none of them.
  func applied(to content: [UInt8]) -> [UInt8]? {
    Self.replacing(in: content) { lines.contains($0) ? Placeholder.bytes : nil }
  }

  /// The content with some lines replaced; nil if there are none. Newlines stay.
  static func replacing(in content: [UInt8], _ new: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
    var isChanged = false
    var result: [UInt8] = []
    let parts = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (position, part) in parts.enumerated() {
      if position > 0 { result.append(UInt8(ascii: "\n")) }
      let hasReturn = part.last == UInt8(ascii: "\r")
      guard let line = new(Array(hasReturn ? part.dropLast() : part)) else {
        result += part
        continue
      }
      result += line + (hasReturn ? [UInt8(ascii: "\r")] : [])
      isChanged = true
    }
    return isChanged ? result : nil
  }
}

extension [UInt8] {
  /// Whether these bytes are a text: no zero byte is among the first 8,000, which is git's test
  /// (diff.c).
  var isTextByLook: Bool { !prefix(8_000).contains(0) }
}
