internal import CLinux
internal import Glibc

/// SHA-1 (FIPS 180-4) over bytes that arrive in pieces: the checksum at the end of packs, their
/// indexes and the index file. The IDs of objects are computed by libgit2, which detects
/// collisions.
struct SHA1 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
  )
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  private static let blockSize = 64

  init() { pending.reserveCapacity(Self.blockSize) }

  mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
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
    let whole = bytes.count - (bytes.count - position) % Self.blockSize
    process(UnsafeRawBufferPointer(rebasing: bytes[position..<whole]))
    position = whole
    pending.append(contentsOf: bytes[position...])
  }

  mutating func finish() -> [UInt8] {
    let bits = length * 8
    let zeros = (Self.blockSize * 2 - 9 - pending.count) % Self.blockSize
    var padding: [UInt8] = [0x80] + [UInt8](repeating: 0, count: zeros)
    padding.appendBigEndian(UInt32(truncatingIfNeeded: bits >> 32))
    padding.appendBigEndian(UInt32(truncatingIfNeeded: bits))
    update(padding)
    var digest: [UInt8] = []
    for word in [state.0, state.1, state.2, state.3, state.4] { digest.appendBigEndian(word) }
    return digest
  }

  static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var checksum = SHA1()
    checksum.update(bytes)
    return checksum.finish()
  }

  static func ofFile(_ descriptor: Int32, size: Int, path: String) throws -> [UInt8] {
    var checksum = SHA1()
    try withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 16) { buffer in
      var position = 0
      while position < size {
        let count = pread(
          descriptor, buffer.baseAddress, min(buffer.count, size - position), off_t(position))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw GitError.system(call: "read", path: path, errno: errno) }
        checksum.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        position += count
      }
    }
    return checksum.finish()
  }

  private static let hasInstructions = notes_has_sha1() != 0

  private mutating func process(_ blocks: UnsafeRawBufferPointer) {
    guard let start = blocks.baseAddress, !blocks.isEmpty else { return }
    if Self.hasInstructions {
      withUnsafeMutableBytes(of: &state) { state in
        guard let words = state.bindMemory(to: UInt32.self).baseAddress else { return }
        notes_sha1_blocks(words, start, blocks.count / Self.blockSize)
      }
    } else {
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
        for offset in stride(from: 0, to: blocks.count, by: Self.blockSize) {
          processPlainly(start + offset, words)
        }
      }
    }
  }

  private mutating func processPlainly(
    _ block: UnsafeRawPointer, _ words: UnsafeMutableBufferPointer<UInt32>
  ) {
    for index in 0..<80 {
      if index < 16 {
        words[index] = UInt32(
          bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      } else {
        let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
        words[index] = mixed << 1 | mixed >> 31
      }
    }
    var (a, b, c, d, e) = state
    func step(_ function: UInt32, _ constant: UInt32, _ word: UInt32) {
      let next = (a << 5 | a >> 27) &+ function &+ e &+ constant &+ word
      (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
    }
    for word in words[..<20] { step(d ^ (b & (c ^ d)), 0x5a82_7999, word) }
    for word in words[20..<40] { step(b ^ c ^ d, 0x6ed9_eba1, word) }
    for word in words[40..<60] { step((b & c) | (d & (b | c)), 0x8f1b_bcdc, word) }
    for word in words[60...] { step(b ^ c ^ d, 0xca62_c1d6, word) }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }
}
