/// Parts of the pack format (gitformat-pack(5)) for all writers of packs.
enum PackFormat {
  /// The size of the header before the first object, in bytes.
  static let headerBytes = 12
  /// The type of a delta that names its base by ID.
  static let deltaType: UInt8 = 7

  static func header(objectCount: Int) -> [UInt8] {
    Array("PACK".utf8) + bigEndian(2) + bigEndian(UInt32(objectCount))
  }

  static func appendHeader(type: UInt8, size: Int, to bytes: inout [UInt8]) {
    var rest = size >> 4
    var byte = type << 4 | UInt8(size & 15)
    while rest > 0 {
      bytes.append(byte | 0x80)
      byte = UInt8(rest & 0x7f)
      rest >>= 7
    }
    bytes.append(byte)
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// The index, version 2, of objects that are sorted by ID.
  static func index(of objects: some Collection<PackedObject>, checksum: [UInt8]) throws -> [UInt8]
  {
    var bytes: [UInt8] = [0xff, 0x74, 0x4f, 0x63] + bigEndian(2)
    bytes.reserveCapacity(8 + 1024 + objects.count * 28 + 2 * ObjectID.byteCount)
    var counts = [UInt32](repeating: 0, count: 256)
    for object in objects { counts[Int(object.id.firstByte)] += 1 }
    var total: UInt32 = 0
    for count in counts {
      total += count
      bytes += bigEndian(total)
    }
    for object in objects { object.id.appendBytes(to: &bytes) }
    for object in objects { bytes.appendBigEndian(object.crc) }
    // Offsets that need more than 31 bits are in a separate table.
    var large: [UInt64] = []
    for object in objects {
      if object.offset < 1 << 31 {
        bytes.appendBigEndian(UInt32(object.offset))
      } else {
        bytes.appendBigEndian(1 << 31 | UInt32(large.count))
        large.append(UInt64(object.offset))
      }
    }
    for offset in large {
      bytes.appendBigEndian(UInt32(offset >> 32))
      bytes.appendBigEndian(UInt32(truncatingIfNeeded: offset))
    }
    bytes += checksum
    bytes += try bytes.withUnsafeBytes(SHA1.of)
    return bytes
  }
}

struct PackEntryHeader {
  /// The object's kind; nil for a delta, which has the kind of its base.
  let kind: ObjectKind?
  let base: Base
  /// The size of the unpacked object or delta in bytes.
  let size: Int
  let length: Int

  enum Base {
    case none
    /// The entry that begins this many bytes before the delta.
    case before(Int)
    case object(ObjectID)
  }

  /// Reads the header at the beginning of `bytes`; nil if it is incomplete.
  init?(_ bytes: UnsafeRawBufferPointer) throws {
    guard let sizeEnd = bytes.prefix(9).firstIndex(where: { $0 & 0x80 == 0 }) else {
      if bytes.count < 9 { return nil }
      throw PackError.malformed("an object's size is too large")
    }
    var size = Int(bytes[0] & 15)
    for index in 0..<sizeEnd { size |= Int(bytes[index + 1] & 0x7f) << (4 + index * 7) }
    self.size = size
    let next = sizeEnd + 1
    let type = bytes[0] >> 4 & 7
    kind = ObjectKind(rawValue: Int32(type))
    switch type {
    case 1...4: (base, length) = (.none, next)
    case 6:
      guard let (distance, end) = try Self.distance(bytes, at: next) else { return nil }
      (base, length) = (.before(distance), end)
    case 7:
      guard let id = ObjectID(in: bytes.bytes, at: next) else { return nil }
      (base, length) = (.object(id), next + ObjectID.byteCount)
    default: throw PackError.malformed("object type \(type)")
    }
  }

  private static func distance(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) throws -> (distance: Int, end: Int)? {
    var distance = -1
    for (position, byte) in bytes[start...].enumerated() {
      guard distance < 1 << 48 else {
        throw PackError.malformed("a delta against what lies before the pack")
      }
      distance = (distance + 1) << 7 | Int(byte & 0x7f)
      if byte & 0x80 == 0 { return (distance, start + position + 1) }
    }
    return nil
  }
}

struct PackedObject {
  let id: ObjectID
  let crc: UInt32
  let offset: Int
}

extension [UInt8] {
  mutating func appendBigEndian(_ value: UInt32) {
    append(UInt8(truncatingIfNeeded: value >> 24))
    append(UInt8(truncatingIfNeeded: value >> 16))
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }
}
