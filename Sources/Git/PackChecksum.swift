/// SHA-1 (FIPS 180-4) over bytes that arrive in pieces: the checksum at the end of a pack.
struct PackChecksum {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
  )
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  private static let blockSize = 64

  init() { pending.reserveCapacity(Self.blockSize) }

  /// Adds bytes.
  mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  private mutating func update(_ bytes: UnsafeRawBufferPointer) {
    length += UInt64(bytes.count)
    var position = 0
    if !pending.isEmpty {
      position = min(Self.blockSize - pending.count, bytes.count)
      pending.append(contentsOf: bytes[..<position])
      guard pending.count == Self.blockSize else { return }
      let block = pending
      block.withUnsafeBytes { process($0) }
      pending.removeAll(keepingCapacity: true)
    }
    while bytes.count - position >= Self.blockSize {
      process(UnsafeRawBufferPointer(rebasing: bytes[position..<position + Self.blockSize]))
      position += Self.blockSize
    }
    pending.append(contentsOf: bytes[position...])
  }

  /// The checksum of everything added; the value is used up.
  mutating func finish() -> [UInt8] {
    let bits = length * 8
    var padding: [UInt8] = [0x80]
    let zeros = (Self.blockSize * 2 - 9 - pending.count) % Self.blockSize
    padding.append(contentsOf: [UInt8](repeating: 0, count: zeros))
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      padding.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
    update(padding)
    var digest: [UInt8] = []
    for word in [state.0, state.1, state.2, state.3, state.4] {
      for shift in stride(from: UInt32(24), through: 0, by: -8) {
        digest.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return digest
  }

  private mutating func process(_ block: UnsafeRawBufferPointer) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
      for index in 0..<16 {
        words[index] = UInt32(
          bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      }
      for index in 16..<80 {
        let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
        words[index] = mixed << 1 | mixed >> 31
      }
      var (a, b, c, d, e) = state
      for index in 0..<80 {
        let function: UInt32
        let constant: UInt32
        switch index {
        case 0..<20: (function, constant) = (b & c | ~b & d, 0x5a82_7999)
        case 20..<40: (function, constant) = (b ^ c ^ d, 0x6ed9_eba1)
        case 40..<60: (function, constant) = (b & c | b & d | c & d, 0x8f1b_bcdc)
        default: (function, constant) = (b ^ c ^ d, 0xca62_c1d6)
        }
        let next = (a << 5 | a >> 27) &+ function &+ e &+ constant &+ words[index]
        (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
      }
      state = (
        state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e
      )
    }
  }
}
