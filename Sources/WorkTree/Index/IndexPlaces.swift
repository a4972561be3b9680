internal import Git

/// Where each path is in the index: a hash table over the index's own bytes.
final class IndexPlaces: Sendable {
  // Open addressing, a power of two in size, at most half full; -1 is free.
  private let slots: [Int32]
  private let mask: Int
  private let hash = BytesHash()

  init(_ index: IndexFile) {
    var size = 16
    while size < index.count * 2 { size *= 2 }
    var slots = [Int32](repeating: -1, count: size)
    for position in 0..<index.count {
      var slot = Int(truncatingIfNeeded: hash(index.pathBytes(at: position))) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int32(position)
    }
    self.slots = slots
    mask = size - 1
  }

  func position(of path: UnsafeRawBufferPointer, in index: IndexFile) -> Int? {
    var slot = Int(truncatingIfNeeded: hash(path)) & mask
    while slots[slot] >= 0 {
      let known = index.pathBytes(at: Int(slots[slot]))
      if known.isEqual(to: path) {
        return Int(slots[slot])
      }
      slot = (slot + 1) & mask
    }
    return nil
  }
}
