// RFC 4648, section 4.

private let alphabet = Array(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

extension [UInt8] {
  /// The bytes in base64, padded, without line breaks.
  public var base64: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((count + 2) / 3 * 4)
    for start in stride(from: 0, to: count, by: 3) {
      let group = self[start..<Swift.min(start + 3, count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return text
  }

  /// The bytes that a base64 text stands for; nil for one that `base64` would not have made.
  public init?(base64 text: [UInt8]) {
    guard text.count.isMultiple(of: 4) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    for start in stride(from: 0, to: text.count, by: 4) {
      let digits = text[start..<(start + 4)].prefix { $0 != UInt8(ascii: "=") }
      var bits = 0
      for digit in digits {
        guard let value = Self.value(ofBase64: digit) else { return nil }
        bits = bits << 6 | value
      }
      bits <<= 6 * (4 - digits.count)
      bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
        .prefix(Swift.max(digits.count - 1, 0))
    }
    // Padding in the middle, or bits behind the last byte, are a second spelling.
    guard bytes.base64 == text else { return nil }
    self = bytes
  }

  private static func value(ofBase64 digit: UInt8) -> Int? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
