/// Letter case and canonical decomposition by the tables of this repository, so that all devices agree,
/// whatever they were built with.
struct UnicodeForms: Sendable {
  /// Read once, by the first name beyond ASCII.
  static let pinned = UnicodeForms()

  /// Scalars at even distances, and the number that goes with them.
  private struct Run {
    let first, last, step, value: UInt32

    func covers(_ scalar: UInt32) -> Bool {
      scalar >= first && (scalar - first) % step == 0
    }
  }

  private let lowercase: [Run]
  private let combiningClasses: [Run]
  private let decompositions: [UInt32: [UInt32]]

  private init() {
    lowercase = Self.runs(UnicodeTable.lowercase)
    combiningClasses = Self.runs(UnicodeTable.combiningClasses)
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

  private static func runs(_ table: String) -> [Run] {
    table.utf8.split(whereSeparator: isSpace).map {
      let numbers = numbers($0)
      return Run(first: numbers[0], last: numbers[1], step: numbers[2], value: numbers[3])
    }
  }

  private static func numbers(_ text: Substring.UTF8View) -> [UInt32] {
    text.split(separator: UInt8(ascii: ",")).compactMap { UInt32(Substring($0), radix: 16) }
  }

  /// The number that goes with a scalar; nil where it is in no run.
  private static func value(of scalar: UInt32, in runs: [Run]) -> UInt32? {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last < scalar { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].covers(scalar) ? runs[low].value : nil
  }

  /// A text with each character in lower case by itself, canonically decomposed: two texts that are
  /// alike but for case and Unicode form come out as one.
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
    let distance = Self.value(of: scalar, in: lowercase) ?? 0
    return [(scalar + distance) % 0x110000]
  }

  private func decomposed(_ scalar: UInt32) -> [UInt32] {
    // The Unicode Standard, 3.12: Hangul syllables are decomposed by arithmetic.
    guard (0xAC00...0xD7A3).contains(scalar) else { return decompositions[scalar] ?? [scalar] }
    let (index, last) = ((scalar - 0xAC00) / 28, (scalar - 0xAC00) % 28)
    return [0x1100 + index / 21, 0x1161 + index % 21] + (last == 0 ? [] : [0x11A7 + last])
  }

  /// Puts marks that follow one another in the order of their classes.
  private func order(_ scalars: inout [UInt32]) {
    let classes = scalars.map { Self.value(of: $0, in: combiningClasses) ?? 0 }
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
