internal import FoundationEssentials

// RFC 4648, section 4.
extension [UInt8] {
  /// The bytes in base64, padded, without line breaks.
  public var base64: [UInt8] { [UInt8](Data(self).base64EncodedData()) }

  /// The bytes of a base64 text; nil for a text that `base64` would not produce.
  public init?(base64 text: [UInt8]) {
    // Padding in the middle, or extra bits after the last byte, would be a second spelling.
    guard let data = Data(base64Encoded: Data(text)), [UInt8](data).base64 == text else {
      return nil
    }
    self = [UInt8](data)
  }
}
