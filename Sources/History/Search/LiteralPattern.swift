internal import Glibc

/// A text to look for as it stands, by default in any case.
///
/// Letters are alike in their simple case mappings (Unicode, one character for one); nothing else
/// is: accents count, and so does a character's form.
struct LiteralPattern: Sendable {
  /// The ways to write each character: one, or its small and its capital form.
  private let characters: [[[UInt8]]]
  /// Where in every match a certain byte stands, and the one or two values it has there.
  private let anchor: (offset: Int, values: [UInt8])
  /// The fewest bytes that a match takes.
  private let leastCount: Int

  init(_ text: String, isCaseSensitive: Bool) {
    characters = text.unicodeScalars.map { scalar in
      let plain = Array(String(scalar).utf8)
      guard !isCaseSensitive else { return [plain] }
      var forms = [plain]
      let properties = scalar.properties
      for mapped in [properties.lowercaseMapping, properties.uppercaseMapping]
      where mapped.unicodeScalars.count == 1 && !forms.contains(Array(mapped.utf8)) {
        forms.append(Array(mapped.utf8))
      }
      return forms
    }
    leastCount = characters.reduce(0) { $0 + ($1.map(\.count).min() ?? 0) }
    anchor = Self.anchor(of: characters)
  }

  /// The first match that starts at `start` or later, as offsets into the text.
  func firstMatch(in text: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
    guard let base = text.baseAddress, start + leastCount <= text.count else { return nil }
    // Where each value of the anchor's byte comes next.
    var next = (-1, -1)
    var position = start + anchor.offset
    while true {
      if next.0 < position { next.0 = Self.find(anchor.values[0], in: text, base, position) }
      if anchor.values.count > 1, next.1 < position {
        next.1 = Self.find(anchor.values[1], in: text, base, position)
      }
      position = anchor.values.count > 1 ? min(next.0, next.1) : next.0
      guard position < text.count else { return nil }
      if let end = matchEnd(in: text, at: position - anchor.offset) {
        return (position - anchor.offset)..<end
      }
      position += 1
    }
  }

  /// Where a match that starts here ends.
  private func matchEnd(in text: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard start + leastCount <= text.count else { return nil }
    var position = start
    next: for forms in characters {
      for form in forms where position + form.count <= text.count {
        var length = 0
        while length < form.count, text[position + length] == form[length] { length += 1 }
        if length == form.count {
          position += length
          continue next
        }
      }
      return nil
    }
    return position
  }

  private static func find(
    _ byte: UInt8, in text: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, _ start: Int
  ) -> Int {
    guard start < text.count else { return .max }
    guard let found = memchr(base + start, Int32(byte), text.count - start) else { return .max }
    return UnsafeRawPointer(found) - base
  }

  /// The byte to look for first: the rarest one in texts, of those whose place in a match is fixed.
  private static func anchor(of characters: [[[UInt8]]]) -> (offset: Int, values: [UInt8]) {
    var best = (cost: Int.max, offset: 0, values: [] as [UInt8])
    var offset = 0
    for forms in characters {
      guard let count = forms.map(\.count).min() else { break }
      for index in 0..<count {
        var values: [UInt8] = []
        for form in forms where !values.contains(form[index]) { values.append(form[index]) }
        let cost = values.reduce(0) { $0 + commonness(of: $1) }
        if values.count <= 2, cost < best.cost { best = (cost, offset + index, values) }
      }
      // What follows a character of several lengths has no fixed place.
      guard forms.allSatisfy({ $0.count == count }) else { break }
      offset += count
    }
    return (best.offset, best.values)
  }

  /// How common a byte is in texts, roughly, in thousandths; letters by their frequency in prose.
  private static func commonness(of byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: " "): 170
    case UInt8(ascii: "a")...UInt8(ascii: "z"): letters[Int(byte - UInt8(ascii: "a"))]
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): 3
    // Lead bytes of a script repeat with every letter; what follows them tells letters apart.
    case 0xC0...: 60
    case 0x80...: 20
    default: 8
    }
  }

  private static let letters = [
    75, 14, 28, 40, 115, 20, 20, 50, 66, 3, 8, 40, 24, 66, 70, 20, 2, 58, 60, 80, 28, 10, 18, 3,
    16, 3,
  ]
}
