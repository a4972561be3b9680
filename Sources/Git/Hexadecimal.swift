extension String {
  /// The bytes as lower-case hexadecimal digits, two a byte.
  public init(hexadecimal bytes: [UInt8]) {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append((byte >> 4).hexadecimalDigit)
      text.append((byte & 15).hexadecimalDigit)
    }
    self = String(decoding: text, as: UTF8.self)
  }
}

extension Array where Element == UInt8 {
  /// The bytes that an even number of hexadecimal digits in either case stand for, or nil.
  public init?(hexadecimal text: some StringProtocol) {
    self.init(hexadecimal: Array(text.utf8)[...])
  }

  /// The same, of the digits' bytes.
  public init?(hexadecimal digits: ArraySlice<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var pending: UInt8?
    for digit in digits {
      guard let nibble = UInt8(hexadecimalDigit: digit) else { return nil }
      if let high = pending {
        bytes.append(high << 4 | nibble)
        pending = nil
      } else {
        pending = nibble
      }
    }
    guard pending == nil else { return nil }
    self = bytes
  }
}

extension UInt8 {
  /// What a hexadecimal digit in either case stands for, or nil.
  init?(hexadecimalDigit digit: UInt8) {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self = digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self = digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self = digit - UInt8(ascii: "A") + 10
    default: return nil
    }
  }

  /// The lower-case digit of a number below 16.
  var hexadecimalDigit: UInt8 {
    self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10
  }
}
