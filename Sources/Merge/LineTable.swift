/// Gives equal lines one number, so that the merge compares numbers instead of bytes.
package struct LineTable {
  private var storage: [UInt8] = []
  private var ranges: [Range<Int>] = []
  // Open addressing; -1 is free. The size is a power of two.
  private var slots: [Int32] = Array(repeating: -1, count: 1024)
  private var hashes: [UInt64] = []
  private var blockNumbers: [[[Int32]]: Int32] = [:]
  private(set) var blocks: [Int32: ConflictBlock] = [:]

  package init() {}

  /// Every number given out is below this.
  package var count: Int { ranges.count }

  /// The bytes of a line, without its newline.
  package subscript(line: Int32) -> ArraySlice<UInt8> { storage[ranges[Int(line)]] }

  /// The number of the line with these bytes.
  package mutating func number(of line: UnsafeBufferPointer<UInt8>) -> Int32 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in line { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash ^= hash >> 29
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let candidate = Int(slots[slot])
      if hashes[candidate] == hash, equals(candidate, line) { return slots[slot] }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = Int32(ranges.count)
    slots[slot] = number
    let start = storage.count
    storage.append(contentsOf: line)
    ranges.append(start..<storage.count)
    hashes.append(hash)
    if ranges.count * 2 > slots.count { grow() }
    return number
  }

  package mutating func number(of line: some Collection<UInt8>) -> Int32 {
    Array(line).withUnsafeBufferPointer { number(of: $0) }
  }

  /// The number that stands for a whole block: equal for blocks with equal sides, whatever their
  /// labels say.
  mutating func number(of block: ConflictBlock) -> Int32 {
    let sides = block.sides.map(\.lines)
    if let known = blockNumbers[sides] { return known }
    let number = Int32(ranges.count)
    ranges.append(storage.count..<storage.count)
    hashes.append(0)
    blockNumbers[sides] = number
    blocks[number] = block
    return number
  }

  /// The numbers of the lines of a text whose lines end in `\n`; a rest without one is a line too.
  package mutating func lines(of text: some Collection<UInt8>) -> [Int32] {
    let bytes = Array(text)
    return bytes.withUnsafeBufferPointer { buffer in
      var lines: [Int32] = []
      var start = 0
      for end in 0..<buffer.count where buffer[end] == UInt8(ascii: "\n") {
        lines.append(number(of: UnsafeBufferPointer(rebasing: buffer[start..<end])))
        start = end + 1
      }
      if start < buffer.count {
        lines.append(number(of: UnsafeBufferPointer(rebasing: buffer[start...])))
      }
      return lines
    }
  }

  /// The text of some lines, each ended by `\n`.
  package func text(of lines: some Sequence<Int32>) -> [UInt8] {
    var text: [UInt8] = []
    for line in lines {
      text.append(contentsOf: self[line])
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }

  private func equals(_ number: Int, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
    let range = ranges[number]
    guard range.count == line.count else { return false }
    for offset in 0..<line.count where storage[range.lowerBound + offset] != line[offset] {
      return false
    }
    return true
  }

  private mutating func grow() {
    slots = Array(repeating: -1, count: slots.count * 2)
    for number in ranges.indices where blocks[Int32(number)] == nil {
      var slot = Int(truncatingIfNeeded: hashes[number]) & (slots.count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number)
    }
  }
}

/// Several texts for one place of a note, as numbers of a `LineTable`.
struct ConflictBlock: Hashable, Sendable {
  struct Side: Hashable, Sendable {
    /// `NAME · DATE`, as the marker shows it.
    var label: [UInt8]
    var lines: [Int32]
  }

  var sides: [Side]
}
