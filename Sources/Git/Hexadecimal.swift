extension String {
  /// The bytes as lower-case hexadecimal digits, two a byte.
  public init(hexadecimal bytes: some Collection<UInt8>) {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    self = String(decoding: text, as: UTF8.self)
  }
}

extension Array where Element == UInt8 {
  /// The bytes that an even number of hexadecimal digits in either case stand for, or nil.
  public init?(hexadecimal text: some StringProtocol) {
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
      default: nil
      }
    }
    var bytes: [UInt8] = []
    var pending: UInt8?
    for digit in text.utf8 {
      guard let nibble = value(digit) else { return nil }
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
