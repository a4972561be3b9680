extension String {
  /// The bytes as lower-case hexadecimal digits, two for each byte.
  public init(hexadecimal bytes: [UInt8]) {
    self.init(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      for (position, byte) in bytes.enumerated() {
        text[2 * position] = hexadecimalDigits[Int(byte >> 4)]
        text[2 * position + 1] = hexadecimalDigits[Int(byte & 15)]
      }
      return 2 * bytes.count
    }
  }
}

extension [UInt8] {
  /// The bytes of an even number of hexadecimal digits, in upper or lower case; nil for anything
  /// else.
  public init?(hexadecimal digits: ArraySlice<UInt8>) {
    guard digits.count.isMultiple(of: 2) else { return nil }
    self = []
    reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      if let first = high { append(first << 4 | value) }
      high = high == nil ? value : nil
    }
  }

  /// The bytes of a text of hexadecimal digits; nil for anything else.
  public init?(hexadecimal text: some StringProtocol) {
    self.init(hexadecimal: Array(text.utf8)[...])
  }
}

private let hexadecimalDigits = Array("0123456789abcdef".utf8)

extension String {
  /// The text that a C function wrote into a buffer, up to the NUL.
  package init(upToNUL buffer: [CChar]) {
    self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension Hasher {
  /// Adds bytes in one call: an array's own method adds each byte separately, which takes twice as long for a
  /// line of text.
  package mutating func combine(atOnce bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { combine(bytes: $0) }
  }
}

extension String {
  /// The text in percent-encoding (RFC 3986, section 2): letters, digits and `-._~` stay, each other byte is escaped.
  public var percentEncoded: String {
    utf8.map { byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 0x80 && (character.isLetter || character.isNumber)
      return isPlain || "-._~".utf8.contains(byte)
        ? String(character) : "%" + String(hexadecimal: [byte]).uppercased()
    }.joined()
  }

  /// The text of percent-encoding; nil for a broken escape, or bytes that are not UTF-8.
  public init?(percentEncoded bytes: [UInt8]) {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let value = [UInt8](hexadecimal: rest.prefix(2)), value.count == 1 else { return nil }
        decoded += value
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    self.init(validating: decoded, as: UTF8.self)
  }
}

extension String {
  /// The bytes in base32 (RFC 4648, section 6): upper case, without padding.
  public init(base32 bytes: [UInt8]) {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var output: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        output.append(alphabet[Int(buffer >> UInt32(bits)) & 31])
      }
    }
    if bits > 0 { output.append(alphabet[Int(buffer << UInt32(5 - bits)) & 31]) }
    self.init(decoding: output, as: UTF8.self)
  }
}

extension [UInt8] {
  /// The bytes of upper-case base32 without padding; nil for anything else.
  public init?(base32 text: String) {
    self = []
    var buffer: UInt32 = 0
    var bits = 0
    for symbol in text.utf8 {
      let value: UInt8
      switch symbol {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = symbol - UInt8(ascii: "A")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = symbol - UInt8(ascii: "2") + 26
      default: return nil
      }
      buffer = (buffer << 5 | UInt32(value)) & 0xFFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
  }
}
