/// The list of objects in a pack, from its index (version 2, gitformat-pack(5)).
enum QuarantineIndex {
  private static let magic: [UInt8] = [0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]
  private static let fanoutEnd = 8 + 256 * 4

  /// The IDs of the objects, in order.
  static func objects(_ index: [UInt8]) throws -> [ObjectID] {
    guard index.count >= fanoutEnd, index.starts(with: magic) else {
      throw PackError.malformed("its index is damaged")
    }
    let count = index[(fanoutEnd - 4)..<fanoutEnd].reduce(0) { $0 << 8 | Int($1) }
    guard index.count >= fanoutEnd + count * ObjectID.byteCount else {
      throw PackError.malformed("its index is damaged")
    }
    return (0..<count).compactMap { position in
      let start = fanoutEnd + position * ObjectID.byteCount
      return ObjectID(bytes: index[start..<start + ObjectID.byteCount])
    }
  }
}
