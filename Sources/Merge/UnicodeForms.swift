package import Git

/// The common form of names that some file systems treat as equal: notes-merge(7), "Names that meet".
package struct NameKey: Hashable {
  /// The lower-case, decomposed name in UTF-8; if the name is not UTF-8, its bytes.
  private let bytes: [UInt8]

  package init(_ name: TreePath) {
    if name.bytes.allSatisfy({ $0 < 0x80 }) {
      bytes = name.bytes.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }
    } else if let text = name.utf8String {
      bytes = Array(UnicodeForms.pinned.lowerCaseDecomposed(text).utf8)
    } else {
      bytes = name.bytes
    }
  }

  /// The version of Unicode for letter case and canonical equivalence.
  package static var unicodeVersion: String { UnicodeTable.version }
}

/// Letter case and canonical decomposition from tables in this repository, so that all devices agree,
/// whatever they were built with.
package struct UnicodeForms: Sendable {
  /// The forms of the tables, which are read once, when the first name or text outside ASCII needs
  /// them.
  package static let pinned = UnicodeForms()

  /// The numbers to add to a scalar for its lower case, and the combining classes.
  private let lowercase: [UInt32: UInt32]
  private let combiningClasses: [UInt32: UInt32]
  private let decompositions: [UInt32: [UInt32]]

  private init() {
    lowercase = Self.values(UnicodeTable.lowercase)
    combiningClasses = Self.values(UnicodeTable.combiningClasses)
    var found: [UInt32: [UInt32]] = [:]
    var scalar: UInt32 = 0
    for entry in UnicodeTable.decompositions.utf8.split(whereSeparator: Self.isSpace) {
      let sides = entry.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
      scalar += Self.numbers(sides[0]).first ?? 1
      found[scalar] = Self.numbers(sides[1])
    }
    decompositions = found
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A }

  /// A table of runs of scalars: first, last, step, and the value of each.
  private static func values(_ table: String) -> [UInt32: UInt32] {
    var values: [UInt32: UInt32] = [:]
    for run in table.utf8.split(whereSeparator: isSpace).map(numbers) {
      let scalars = stride(from: run[0], through: run[1], by: Int(run[2]))
      for scalar in scalars { values[scalar] = run[3] }
    }
    return values
  }

  private static func numbers(_ text: Substring.UTF8View) -> [UInt32] {
    text.split(separator: UInt8(ascii: ",")).compactMap { UInt32(Substring($0), radix: 16) }
  }

  /// The text with each character separately converted to lower case, and canonically decomposed. Two texts
  /// that differ only in case and Unicode form give the same result.
  func lowerCaseDecomposed(_ text: String) -> String {
    var scalars: [UInt32] = []
    for scalar in text.unicodeScalars {
      for lower in lowerCase(scalar.value) { scalars += decomposed(lower) }
    }
    order(&scalars)
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars.lazy.compactMap(Unicode.Scalar.init))
    return String(result)
  }

  private func lowerCase(_ scalar: UInt32) -> [UInt32] {
    if let several = UnicodeTable.expansions[scalar] { return several }
    return [(scalar + (lowercase[scalar] ?? 0)) % 0x110000]
  }

  /// Whether a character is a mark that belongs to the one before it.
  package func isMark(_ scalar: UInt32) -> Bool { combiningClasses[scalar] != nil }

  /// A character's canonical decomposition.
  package func decomposed(_ scalar: UInt32) -> [UInt32] {
    // The Unicode Standard, 3.12: Hangul syllables are decomposed by a formula.
    guard (0xAC00...0xD7A3).contains(scalar) else { return decompositions[scalar] ?? [scalar] }
    let (index, last) = ((scalar - 0xAC00) / 28, (scalar - 0xAC00) % 28)
    return [0x1100 + index / 21, 0x1161 + index % 21] + (last == 0 ? [] : [0x11A7 + last])
  }

  /// Sorts consecutive marks by their combining classes.
  private func order(_ scalars: inout [UInt32]) {
    let classes = scalars.map { combiningClasses[$0] ?? 0 }
    var start = 0
    while start < scalars.count {
      let end = classes[start...].firstIndex(of: 0) ?? scalars.count
      if end - start > 1 {
        let sorted = (start..<end).sorted { (classes[$0], $0) < (classes[$1], $1) }
        scalars.replaceSubrange(start..<end, with: sorted.map { scalars[$0] })
      }
      start = end + 1
    }
  }
}
