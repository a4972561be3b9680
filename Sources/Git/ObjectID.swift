/// The name of an object: the SHA-1 of its kind, size and content, as git computes it.
public struct ObjectID: Hashable, Sendable {
  /// How many bytes an ID has.
  public static let byteCount = 20

  // Three big-endian words instead of an array: no allocation, and comparing words compares bytes.
  private let high: UInt64
  private let middle: UInt64
  private let low: UInt32

  /// The ID with these 20 bytes, or nil when there are not exactly 20.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var high: UInt64 = 0
    var middle: UInt64 = 0
    var low: UInt32 = 0
    for (position, byte) in bytes.enumerated() {
      switch position {
      case 0..<8: high = high << 8 | UInt64(byte)
      case 8..<16: middle = middle << 8 | UInt64(byte)
      default: low = low << 8 | UInt32(byte)
      }
    }
    (self.high, self.middle, self.low) = (high, middle, low)
  }

  /// The ID whose 20 bytes begin at `offset` in a longer run of bytes, or nil when it is too short.
  public init?(in bytes: [UInt8], at offset: Int) {
    guard offset >= 0, offset <= bytes.count - Self.byteCount else { return nil }
    (high, middle, low) = bytes.withUnsafeBytes { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)),
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt32.self))
      )
    }
  }

  /// The ID written as 40 hexadecimal digits in either case, or nil for anything else.
  public init?(hex: String) {
    var text = hex
    guard let id = text.withUTF8({ ObjectID(digits: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = id
  }

  /// The same, of a part of a text.
  public init?(hex: Substring) { self.init(hex: String(hex)) }

  /// The same, of bytes.
  public init?(hex: ArraySlice<UInt8>) {
    guard let id = hex.withUnsafeBytes({ ObjectID(digits: $0) }) else { return nil }
    self = id
  }

  private init?(digits: UnsafeRawBufferPointer) {
    guard digits.count == 2 * Self.byteCount else { return nil }
    func word(_ range: Range<Int>) -> UInt64? {
      var word: UInt64 = 0
      for position in range {
        guard let nibble = UInt8(hexadecimalDigit: digits[position]) else { return nil }
        word = word << 4 | UInt64(nibble)
      }
      return word
    }
    guard let high = word(0..<16), let middle = word(16..<32), let low = word(32..<40) else {
      return nil
    }
    (self.high, self.middle, self.low) = (high, middle, UInt32(low))
  }

  /// The 20 bytes of the ID.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: high >> UInt64(shift)))
    }
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: middle >> UInt64(shift)))
    }
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: low >> UInt32(shift)))
    }
    return bytes
  }

  /// The first of the bytes, by which pack indexes and folders of objects are sorted.
  var firstByte: UInt8 { UInt8(truncatingIfNeeded: high >> 56) }

  /// Appends the 20 bytes without an array between.
  public func appendBytes(to bytes: inout [UInt8]) {
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: high >> 32))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: high))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: middle >> 32))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: middle))
    bytes.appendBigEndian(low)
  }

  /// The ID as 40 lower-case hexadecimal digits.
  public var hex: String {
    String(unsafeUninitializedCapacity: 2 * Self.byteCount) { text in
      for position in 0..<2 * Self.byteCount {
        let nibble: UInt8
        switch position {
        case 0..<16: nibble = UInt8(truncatingIfNeeded: high >> UInt64(60 - 4 * position)) & 15
        case 16..<32: nibble = UInt8(truncatingIfNeeded: middle >> UInt64(124 - 4 * position)) & 15
        default: nibble = UInt8(truncatingIfNeeded: low >> UInt32(156 - 4 * position)) & 15
        }
        text[position] = nibble.hexadecimalDigit
      }
      return 2 * Self.byteCount
    }
  }

  private init(literal hex: StaticString) {
    let parsed = ObjectID(hex: hex.description)
    (high, middle, low) = parsed.map { ($0.high, $0.middle, $0.low) } ?? (0, 0, 0)
  }

  /// The ID of the tree without entries, which git knows without storing it.
  public static let emptyTree = ObjectID(literal: "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
  /// The ID of the empty blob.
  public static let emptyBlob = ObjectID(literal: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
  /// Twenty zero bytes: git's way to say "no object".
  public static let zero = ObjectID(literal: "0000000000000000000000000000000000000000")
}

extension ObjectID: Comparable {
  /// Orders by bytes, which is also the order of the hexadecimal forms.
  public static func < (left: ObjectID, right: ObjectID) -> Bool {
    (left.high, left.middle, left.low) < (right.high, right.middle, right.low)
  }
}

extension ObjectID: CustomStringConvertible {
  public var description: String { hex }
}

extension ObjectID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ObjectID(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an object ID is 40 hexadecimal digits")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
