internal import Git
internal import Glibc

/// Where each path is in the index: a hash table over the index's own bytes.
final class IndexPlaces: Sendable {
  // Open addressing, a power of two in size, at most half full; -1 is free.
  private let slots: [Int32]
  private let mask: Int

  init(_ index: IndexFile) {
    var size = 16
    while size < index.count * 2 { size *= 2 }
    var slots = [Int32](repeating: -1, count: size)
    for position in 0..<index.count {
      var slot = Self.hash(index.pathBytes(at: position)) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int32(position)
    }
    self.slots = slots
    mask = size - 1
  }

  func position(of path: UnsafeRawBufferPointer, in index: IndexFile) -> Int? {
    var slot = Self.hash(path) & mask
    while slots[slot] >= 0 {
      let known = index.pathBytes(at: Int(slots[slot]))
      if known.isEqual(to: path) {
        return Int(slots[slot])
      }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    // Eight bytes at a time; the table is private to one scan of the user's own folder.
    var hash = UInt64(bytes.count)
    var position = 0
    while position < bytes.count {
      var word: UInt64 = 0
      if position + 8 <= bytes.count {
        word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      } else {
        for byte in bytes[position...] { word = word << 8 | UInt64(byte) }
      }
      // Both halves of the product: names that follow each other differ in few bits of a word.
      let product = (hash ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
      hash = product.high ^ product.low
      position += 8
    }
    return Int(truncatingIfNeeded: hash) & Int.max
  }
}
