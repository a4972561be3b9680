/// Pieces of the pack format (gitformat-pack(5)) that every writer of packs needs.
enum PackFormat {
  /// The bytes of a pack before its objects: signature, version 2, number of objects.
  static func header(objectCount: Int) -> [UInt8] {
    Array("PACK".utf8) + bigEndian(2) + bigEndian(UInt32(objectCount))
  }

  /// What stands before an object's compressed content: its type and its size.
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

  /// A number in network order.
  static func bigEndian(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// The index of a pack, version 2.
  ///
  /// - Parameters:
  ///   - objects: the objects by ID.
  ///   - checksum: the pack's.
  static func index(of objects: [PackedObject], checksum: [UInt8]) -> [UInt8] {
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
    // Offsets of 31 bits and more stand in a table of their own.
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
    var own = PackChecksum()
    own.update(bytes)
    bytes += own.finish()
    return bytes
  }
}

/// Where an object is in a pack.
struct PackedObject {
  let id: ObjectID
  /// The CRC-32 of its bytes in the pack.
  let crc: UInt32
  let offset: Int
}

extension [UInt8] {
  /// Appends a number in network order.
  mutating func appendBigEndian(_ value: UInt32) {
    append(UInt8(truncatingIfNeeded: value >> 24))
    append(UInt8(truncatingIfNeeded: value >> 16))
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }
}
