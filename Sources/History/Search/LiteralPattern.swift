internal import System

/// A text to look for as it stands. Letters in any case are alike in their simple case mappings
/// (Unicode, one character for one); nothing else is: accents count, and so does a character's form.
struct LiteralPattern: Sendable {
  /// The ways to write each character: one, or its small and its capital form.
  private let characters: [[[UInt8]]]
  /// Which byte of a match is looked for first, and the one or two values it has.
  private let anchor: (offset: Int, values: [UInt8])

  init(_ text: String, isCaseSensitive: Bool) {
    characters = text.unicodeScalars.map { scalar in
      var forms = [Array(String(scalar).utf8)]
      let properties = scalar.properties
      for mapped in [properties.lowercaseMapping, properties.uppercaseMapping]
      where !isCaseSensitive && mapped.unicodeScalars.count == 1
        && !forms.contains(Array(mapped.utf8))
      {
        forms.append(Array(mapped.utf8))
      }
      return forms
    }
    // What follows a character of several lengths has no fixed place.
    let fixed = characters.prefix { Set($0.map(\.count)).count == 1 }
    let bytes = (fixed.isEmpty ? characters.prefix(1) : fixed).flatMap { forms in
      (0..<(forms.map(\.count).min() ?? 0)).map { place in Array(Set(forms.map { $0[place] })) }
    }
    let best = bytes.enumerated().filter { $0.element.count <= 2 }.max {
      Self.rarity($0.element) < Self.rarity($1.element)
    }
    anchor = (best?.offset ?? 0, best?.element ?? [])
  }

  /// How rare the most common of some bytes is in prose. A character's first byte repeats with every
  /// letter of a script; its last tells letters apart.
  private static func rarity(_ bytes: [UInt8]) -> Int {
    bytes.map { commonest.firstIndex(of: $0) ?? ($0 < 0xC0 ? 30 : 10) }.min() ?? 0
  }

  private static let commonest = Array(" etaoinshrdlcumwfgypbvkxjqz".utf8)

  /// The first match that starts at `start` or later, as offsets into the text.
  func firstMatch(in text: [UInt8], from start: Int) -> Range<Int>? {
    guard let value = anchor.values.first else { return nil }
    let other = anchor.values.count > 1 ? anchor.values[1] : nil
    // Where each value comes next. An array of them for every match would cost more than the search.
    var (next, nextOther) = (-1, other == nil ? Int.max : -1)
    var place = start + anchor.offset
    while true {
      if next < place { next = text.firstIndex(of: value, from: place) ?? .max }
      if let other, nextOther < place {
        nextOther = text.firstIndex(of: other, from: place) ?? .max
      }
      place = min(next, nextOther)
      guard place < text.count else { return nil }
      let start = place - anchor.offset
      if let end = matchEnd(in: text, at: start) { return start..<end }
      place += 1
    }
  }

  /// Where a match that starts here ends.
  private func matchEnd(in text: [UInt8], at start: Int) -> Int? {
    var position = start
    for forms in characters {
      let form = forms.first { text[position...].starts(with: $0) }
      guard let form else { return nil }
      position += form.count
    }
    return position
  }
}
