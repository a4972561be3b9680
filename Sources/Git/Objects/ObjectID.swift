internal import System

/// The ID of an object: the SHA-1 of its kind, size and content, as in git.
public struct ObjectID: Hashable, Sendable {
  /// The number of bytes of an ID.
  public static let byteCount = 20

  // Three big-endian words instead of an array: this needs no allocation, and their order is that
  // of the bytes.
  private let high: UInt64
  private let middle: UInt64
  private let low: UInt32

  /// The ID with these 20 bytes; nil for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    let bytes = Array(bytes)
    self.init(in: bytes.span.bytes, at: 0)
  }

  /// The ID in the 20 bytes from `offset` on; nil if there are fewer.
  public init?(in bytes: RawSpan, at offset: Int) {
    guard offset >= 0, offset <= bytes.byteCount - Self.byteCount else { return nil }
    func word(_ place: Int) -> UInt64 {
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + place, as: UInt64.self))
    }
    // The last word is read from an offset within the second.
    (high, middle, low) = (word(0), word(8), UInt32(truncatingIfNeeded: word(12)))
  }

  /// The ID written as 40 hexadecimal digits in upper or lower case; nil for anything else.
  public init?(hex: some StringProtocol) { self.init(hex: Array(hex.utf8)[...]) }

  /// The ID whose 40 hexadecimal digits are these ASCII bytes; nil for anything else.
  public init?(hex: ArraySlice<UInt8>) {
    guard hex.count == 2 * Self.byteCount, let bytes = [UInt8](hexadecimal: hex) else { return nil }
    self.init(in: bytes.span.bytes, at: 0)
  }

  /// The 20 bytes of the ID.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    appendBytes(to: &bytes)
    return bytes
  }

  /// The first byte, by which pack indexes and object folders are sorted.
  var firstByte: UInt8 { UInt8(truncatingIfNeeded: high >> 56) }

  /// Appends the 20 bytes without making an array.
  public func appendBytes(to bytes: inout [UInt8]) {
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: high >> 32))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: high))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: middle >> 32))
    bytes.appendBigEndian(UInt32(truncatingIfNeeded: middle))
    bytes.appendBigEndian(low)
  }

  /// The ID as 40 lower-case hexadecimal digits.
  public var hex: String { String(hexadecimal: bytes) }

  private init(literal hex: StaticString) {
    let parsed = ObjectID(hex: hex.description)
    (high, middle, low) = parsed.map { ($0.high, $0.middle, $0.low) } ?? (0, 0, 0)
  }

  /// The ID of the tree without entries, which git knows without storing it.
  public static let emptyTree = ObjectID(literal: "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
  /// The ID of the empty blob.
  public static let emptyBlob = ObjectID(literal: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
  /// Twenty zero bytes, which mean "no object" in git.
  public static let zero = ObjectID(literal: "0000000000000000000000000000000000000000")
}

extension ObjectID {
  /// Hashes only a part: IDs are evenly distributed, and an attacker would have to search for each
  /// ID that shares these 64 bits.
  public func hash(into hasher: inout Hasher) { hasher.combine(middle) }
}

extension ObjectID: Comparable {
  /// Orders by bytes, which is also the order of the hexadecimal forms.
  public static func < (left: ObjectID, right: ObjectID) -> Bool {
    (left.high, left.middle, left.low) < (right.high, right.middle, right.low)
  }
}

extension ObjectID: CustomStringConvertible { public var description: String { hex } }

extension ObjectID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = ObjectID(hex: text), id.hex == text else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an object ID is 40 lower-case hexadecimal digits")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
