internal import System

/// Links in a text: addresses on the web, mail addresses, telephone numbers, and `[[titles]]` of notes.
/// Each letter is read at most twice, whatever the text.
struct Links {
  /// A part of a text: plain, or a link with its words.
  enum Part: Equatable {
    case text(String)
    case link(to: String, words: String)
  }

  /// The address of a note's page, by a title in brackets; nil if there is none.
  let note: (String) -> String?

  /// The schemes that are allowed in links. `javascript:`, `data:`, `file:` and all others are
  /// ignored.
  private static let schemes = ["http", "https", "mailto", "tel"]
  /// The longest address, in bytes.
  private static let longest = 2_000

  /// An address on the web, a mail address or a telephone number in the form for a link; nil for
  /// others.
  static func outward(_ address: String) -> String? {
    guard address.utf8.count <= longest, !HiddenScalars.areIn(address, .name),
      address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
      let colon = address.firstIndex(of: ":"),
      schemes.contains(address[..<colon].lowercased())
    else { return nil }
    return address
  }

  /// The parts of a text, in its order.
  func parts(of text: String) -> [Part] {
    var found: [Part] = []
    let bytes = Array(text.utf8)
    var (plain, place) = (0, 0)
    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    while place < bytes.count {
      guard let (range, target) = link(in: bytes, at: place, after: plain) else {
        place += 1
        continue
      }
      if plain < range.lowerBound { found.append(.text(string(plain..<range.lowerBound))) }
      let isTitle = bytes[range.lowerBound] == UInt8(ascii: "[")
      let words = string(range)
      found.append(.link(to: target, words: isTitle ? Self.label(words) : words))
      (plain, place) = (range.upperBound, range.upperBound)
    }
    if plain < bytes.count { found.append(.text(string(plain..<bytes.count))) }
    return found
  }

  private func link(in bytes: [UInt8], at place: Int, after plain: Int) -> (Range<Int>, String)? {
    switch bytes[place] {
    case UInt8(ascii: "["): title(in: bytes, at: place)
    case UInt8(ascii: "h"), UInt8(ascii: "H"), UInt8(ascii: "w"), UInt8(ascii: "W"):
      web(in: bytes, at: place)
    case UInt8(ascii: "@"): mail(in: bytes, at: place, after: plain)
    case UInt8(ascii: "+"), UInt8(ascii: "0"): telephone(in: bytes, at: place)
    default: nil
    }
  }

  // MARK: Titles

  /// `[[title]]`, or `[[title|words]]`, on one line.
  private func title(in bytes: [UInt8], at place: Int) -> (Range<Int>, String)? {
    let end = min(bytes.count, place + 260)
    guard place + 4 < end, bytes[place + 1] == UInt8(ascii: "[") else { return nil }
    var next = place + 2
    while next + 1 < end {
      switch bytes[next] {
      case UInt8(ascii: "\n"), UInt8(ascii: "["): return nil
      case UInt8(ascii: "]") where bytes[next + 1] == UInt8(ascii: "]"):
        let inside = String(decoding: bytes[place + 2..<next], as: UTF8.self)
        let name = inside.prefix { $0 != "|" && $0 != "#" }
        return note(String(name)).map { (place..<next + 2, $0) }
      default: next += 1
      }
    }
    return nil
  }

  private static func label(_ words: String) -> String {
    let inside = words.dropFirst(2).dropLast(2)
    return String(inside.split(separator: "|", maxSplits: 1).last ?? inside)
  }

  // MARK: Addresses

  private static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || Request.isAlphanumeric(byte)
  }

  private static func begins(_ bytes: [UInt8], at place: Int, with word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard place + count <= bytes.count else { return false }
    return (0..<count).allSatisfy {
      let (byte, wanted) = (bytes[place + $0], word.utf8Start[$0])
      return byte == wanted || byte | 0x20 == wanted && isWord(byte)
    }
  }

  private func web(in bytes: [UInt8], at place: Int) -> (Range<Int>, String)? {
    guard place == 0 || !Self.isWord(bytes[place - 1]) else { return nil }
    let prefix: String
    var start = place
    if Self.begins(bytes, at: place, with: "https://") {
      (prefix, start) = ("", place + 8)
    } else if Self.begins(bytes, at: place, with: "http://") {
      (prefix, start) = ("", place + 7)
    } else if Self.begins(bytes, at: place, with: "www.") {
      (prefix, start) = ("https://", place + 4)
    } else {
      return nil
    }
    var (end, open) = (start, 0)
    let last = min(bytes.count, place + Self.longest)
    scan: while end < last, bytes[end] > 0x20 {
      switch bytes[end] {
      case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""): break scan
      case UInt8(ascii: "("): open += 1
      case UInt8(ascii: ")"):
        if open == 0 { break scan }
        open -= 1
      default: break
      }
      end += 1
    }
    // A full stop at the end belongs to the sentence, and not to the address.
    while end > start, ".,:;!?'*_]".utf8.contains(bytes[end - 1]) { end -= 1 }
    guard end > start, Self.isWord(bytes[start]) || bytes[start] == UInt8(ascii: "[") else {
      return nil
    }
    let words = String(decoding: bytes[place..<end], as: UTF8.self)
    return Self.outward(prefix + words).map { (place..<end, $0) }
  }

  private func mail(in bytes: [UInt8], at place: Int, after plain: Int) -> (Range<Int>, String)? {
    func isMark(_ byte: UInt8) -> Bool { ".-_+".utf8.contains(byte) }
    func isPlain(_ byte: UInt8) -> Bool { byte < 0x80 && Self.isWord(byte) }
    var start = place
    while start > max(plain, place - 64), isPlain(bytes[start - 1]) || isMark(bytes[start - 1]) {
      start -= 1
    }
    var end = place + 1
    let last = min(bytes.count, place + 200)
    while end < last, isPlain(bytes[end]) || ".-".utf8.contains(bytes[end]) { end += 1 }
    while end > place, isMark(bytes[end - 1]) { end -= 1 }
    guard start < place, isPlain(bytes[start]), end > place + 3,
      bytes[place + 1..<end].contains(UInt8(ascii: ".")), isPlain(bytes[place + 1])
    else { return nil }
    let words = String(decoding: bytes[start..<end], as: UTF8.self)
    return Self.outward("mailto:" + words).map { (start..<end, $0) }
  }

  /// A telephone number as people write it, with the country's or the town's code: `+49 30 1234567`,
  /// `(030) 123 45 67` without the bracket. Dates and amounts have other marks or fewer digits.
  private func telephone(in bytes: [UInt8], at place: Int) -> (Range<Int>, String)? {
    if place > 0, Self.isWord(bytes[place - 1]) || "+-./,:=".utf8.contains(bytes[place - 1]) {
      return nil
    }
    let isForeign = bytes[place] == UInt8(ascii: "+")
    var digits: [UInt8] = []
    var (end, next) = (place, place + (isForeign ? 1 : 0))
    let last = min(bytes.count, place + 32)
    while next < last {
      if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[next]) {
        digits.append(bytes[next])
        end = next + 1
      } else if !" ()/-".utf8.contains(bytes[next]) || next > end + 1 {
        break
      }
      next += 1
    }
    let isWhole = end == bytes.count || !Self.isWord(bytes[end])
    guard isWhole, (isForeign ? 8...15 : 9...13).contains(digits.count) else { return nil }
    let number = (isForeign ? "+" : "") + String(decoding: digits, as: UTF8.self)
    return (place..<end, "tel:" + number)
  }
}
