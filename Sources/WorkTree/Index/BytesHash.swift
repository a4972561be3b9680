/// A fast hash of names and paths, for tables and sums that live as long as one look at the folder.
/// Each has a seed of its own, so that nobody can choose names that meet.
struct BytesHash: Sendable {
  private let seed = UInt64.random(in: .min ... .max)

  func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    // Eight bytes at a time.
    var hash = seed ^ UInt64(bytes.count)
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
    return hash
  }
}
