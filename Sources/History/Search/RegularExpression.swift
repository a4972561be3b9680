internal import Glibc
internal import WorkTree

/// A compiled POSIX extended regular expression (regex(7)). It belongs to one thread: sharing it
/// would make threads wait for the library's lock.
final class RegularExpression {
  private var compiled = regex_t()
  private let locale: locale_t?

  /// The limit for the length of an expression with its repetitions written out, in characters.
  /// Beyond it, the library could use gigabytes.
  private static let sizeLimit = 20_000

  /// - Throws: `HistoryError.invalidExpression` with the library's message.
  init(_ text: String, isCaseSensitive: Bool) throws {
    guard Self.size(of: text) <= Self.sizeLimit else {
      throw HistoryError.invalidExpression(text, reason: "it repeats too much")
    }
    guard !text.utf8.contains(0) else {
      throw HistoryError.invalidExpression(text, reason: "it contains a NUL character")
    }
    // Notes are UTF-8 in any locale.
    locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
    let former = locale.flatMap { uselocale($0) }
    defer { if let former { uselocale(former) } }
    // ^ and $ match at the start and end of a line, and a dot does not match a newline.
    let options = REG_EXTENDED | REG_NEWLINE | (isCaseSensitive ? 0 : REG_ICASE)
    let status = regcomp(&compiled, text, options)
    guard status == 0 else {
      var words = [CChar](repeating: 0, count: 200)
      regerror(status, &compiled, &words, words.count)
      let letters = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let reason = String(decoding: letters, as: UTF8.self)
      let known = reason.prefix(1).lowercased() + reason.dropFirst()
      throw HistoryError.invalidExpression(
        text, reason: known == "invalid regular expression" ? "" : known)
    }
  }

  deinit {
    regfree(&compiled)
    if let locale { freelocale(locale) }
  }

  /// The first match that starts at `start` or later.
  func firstMatch(in text: [UInt8], from start: Int) -> Range<Int>? {
    guard start <= text.count else { return nil }
    var match = regmatch_t(rm_so: regoff_t(start), rm_eo: regoff_t(text.count))
    // If the search starts in the middle of a line, ^ must not match.
    let isLineStart = start == 0 || text[start - 1] == UInt8(ascii: "\n")
    let options = Self.startAndEnd | (isLineStart ? 0 : REG_NOTBOL)
    let former = locale.flatMap { uselocale($0) }
    defer { if let former { uselocale(former) } }
    guard regexec(&compiled, text, 1, &match, options) == 0 else { return nil }
    return Int(match.rm_so)..<Int(match.rm_eo)
  }

  /// REG_STARTEND: the caller passes the bounds of the text, which may therefore contain NUL.
  private static let startAndEnd: Int32 = 1 << 2

  /// An upper limit for the expression's length with its repetitions written out, in characters.
  private static func size(of text: String) -> Int {
    // The sizes of the open groups, the outermost first; then the size of the last repeatable part.
    var groups = [0]
    var last = 0
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "{") {
        let bound = bytes.prefix { $0 != UInt8(ascii: "}") }
        let numbers = bound.split(separator: UInt8(ascii: ",")).compactMap {
          Int(String(decoding: $0, as: UTF8.self))
        }
        guard let most = numbers.max() else { continue }
        bytes = bytes.dropFirst(bound.count + 1)
        // Above the limit, the exact size does not matter.
        last = max(last, min(last, sizeLimit + 1) * min(most, sizeLimit + 1))
        continue
      }
      groups[groups.count - 1] += last
      last = 1
      switch byte {
      case UInt8(ascii: "\\"): _ = bytes.popFirst()
      case UInt8(ascii: "("):
        groups.append(0)
        last = 0
      case UInt8(ascii: ")") where groups.count > 1: last = groups.removeLast()
      default: break
      }
    }
    return groups.reduce(last, +)
  }
}
