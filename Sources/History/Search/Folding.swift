internal import Merge
internal import System

/// How a search compares texts: notes-search(1). A text is folded once, and then its bytes are
/// searched.
struct Folding: Hashable, Sendable {
  /// Whether upper and lower case are equal.
  var ignoresCase = true
  /// Whether a letter is equal with and without accents.
  var ignoresAccents = false
  /// Whether an accented letter is equal in composed and decomposed form.
  var decomposes = true

  /// A character's folded form: Unicode's full case folding, decomposed, and without marks if
  /// accents are ignored.
  func folded(_ scalar: Unicode.Scalar) -> [UInt8] {
    var scalars = [scalar]
    // Case folding is the lower case of the upper case of the lower case, except for dotless i, which
    // equals an i only in Turkish (CaseFolding.txt, status T).
    if ignoresCase, scalar != "\u{131}" {
      scalars = scalar.properties.lowercaseMapping.uppercased().unicodeScalars.flatMap {
        $0.properties.lowercaseMapping.unicodeScalars
      }
    }
    guard decomposes || ignoresAccents else { return Array(UTF8.encode(scalar) ?? .init()) }
    var parts = scalars.flatMap { UnicodeForms.pinned.decomposed($0.value) }
    if ignoresAccents { parts.removeAll(where: UnicodeForms.pinned.isMark) }
    return parts.compactMap(Unicode.Scalar.init).flatMap { Array(UTF8.encode($0) ?? .init()) }
  }
}

/// Folds texts, and remembers the folded form of each character outside ASCII. It belongs to one
/// thread.
final class Folder {
  let folding: Folding
  private var known: [Unicode.Scalar: [UInt8]] = [:]

  init(_ folding: Folding) { self.folding = folding }

  func fold(_ text: [UInt8]) -> FoldedText {
    var result = FoldedText(capacity: text.count)
    var position = 0
    while position < text.count {
      let byte = text[position]
      guard byte >= 0x80 else {
        let isCapital = folding.ignoresCase && (0x41...0x5A).contains(byte)
        result.bytes.append(isCapital ? byte + 0x20 : byte)
        position += 1
        continue
      }
      guard let (scalar, length) = Self.scalar(in: text, at: position) else {
        result.bytes.append(byte)
        position += 1
        continue
      }
      result.append(form(of: scalar), for: position..<(position + length))
      position += length
    }
    return result
  }

  private func form(of scalar: Unicode.Scalar) -> [UInt8] {
    if let form = known[scalar] { return form }
    let form = folding.folded(scalar)
    known[scalar] = form
    return form
  }

  /// The character that starts at an offset, and its number of bytes; nil if the bytes are not
  /// UTF-8.
  private static func scalar(in text: [UInt8], at start: Int) -> (Unicode.Scalar, Int)? {
    let length = text[start] >= 0xF0 ? 4 : text[start] >= 0xE0 ? 3 : 2
    guard start + length <= text.count else { return nil }
    var decoder = UTF8()
    var bytes = text[start..<(start + length)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
    return UTF8.width(scalar) == length ? (scalar, length) : nil
  }
}

/// A folded text, with a map from its offsets to those of the original text.
struct FoldedText {
  fileprivate(set) var bytes: [UInt8] = []
  /// The characters whose folded form has other bytes, with their offsets.
  private var changes: [(folded: Range<Int>, original: Range<Int>)] = []

  fileprivate init(capacity: Int) { bytes.reserveCapacity(capacity) }

  fileprivate mutating func append(_ form: [UInt8], for original: Range<Int>) {
    let start = bytes.count
    bytes += form
    changes.append((start..<bytes.count, original))
  }

  /// The offset in the original text; nil if `place` is inside a character's folded form. Marks
  /// that the folding removed there belong to the text before `place`.
  func original(of place: Int) -> Int? {
    var next = changes.partitionPoint { $0.folded.lowerBound < place }
    var original = place
    if next > 0 {
      let last = changes[next - 1]
      guard place >= last.folded.upperBound else { return nil }
      original = last.original.upperBound + place - last.folded.upperBound
    }
    while next < changes.count, changes[next].folded == place..<place,
      changes[next].original.lowerBound == original
    {
      original = changes[next].original.upperBound
      next += 1
    }
    return original
  }

  /// A range of the original text; nil if one of its ends is inside a character.
  func original(of range: Range<Int>) -> Range<Int>? {
    guard let start = original(of: range.lowerBound), let end = original(of: range.upperBound)
    else { return nil }
    return start..<max(start, end)
  }

  /// Whether there is a mark at an offset; it belongs to the letter before.
  func hasMark(at place: Int) -> Bool {
    guard place < bytes.count, bytes[place] >= 0x80 else { return false }
    var decoder = UTF8()
    var rest = bytes[place...].prefix(4).makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return false }
    return UnicodeForms.pinned.isMark(scalar.value)
  }
}
