extension String {
  /// The bytes in base32 (RFC 4648, section 6): upper case, without padding.
  public init(base32 bytes: [UInt8]) {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count * 8 + 4) / 5)
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
