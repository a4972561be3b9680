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
    // A character's first byte repeats with every letter of a script; its last tells letters apart.
    let first = characters.first ?? []
    let last = Set(first.map(\.count)).count == 1 ? first[0].count - 1 : 0
    let anchors: [(offset: Int, values: [UInt8])] = [last, 0].map { offset in
      (offset, Array(Set(first.map { $0[offset] })))
    }
    anchor = anchors.first { $0.values.count <= 2 } ?? anchors[1]
  }

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
      let form = forms.first { form in
        position + form.count <= text.count
          && form.indices.allSatisfy { text[position + $0] == form[$0] }
      }
      guard let form else { return nil }
      position += form.count
    }
    return position
  }
}
