/// The offsets of the parts of an index file, versions 2 and 3 (gitformat-index(5)).
struct IndexLayout {
  /// The start of each entry, without those of an unfinished git merge (stages 1 to 3).
  private(set) var starts: [UInt32] = []
  /// The positions of the entries with the skip-worktree bit.
  private(set) var skipping: [Int] = []
  private(set) var trees: Range<Int>?
  /// The ranges of the paths of entries of an unfinished git merge.
  private(set) var unmerged: [Range<Int>] = []
  /// Whether `starts` has every entry.
  private(set) var isGapless = true

  init() {}

  /// Nil if the file has a form that this type does not read.
  init?(of bytes: UnsafeRawBufferPointer) {
    let trailer = ObjectID.byteCount
    guard bytes.count >= 12 + trailer, bytes.count < Int32.max,
      bytes.bigEndianWord(at: 0) == 0x4449_5243, (2...3).contains(bytes.bigEndianWord(at: 4))
    else { return nil }
    let end = bytes.count - trailer
    let total = Int(bytes.bigEndianWord(at: 8))
    guard total <= bytes.count / 62 else { return nil }
    starts.reserveCapacity(total)
    var position = 12
    for _ in 0..<total {
      guard position + 64 <= end else { return nil }
      let path = Self.path(in: bytes, at: position)
      guard !path.isEmpty, path.upperBound < end, bytes[path.upperBound] == 0 else { return nil }
      let flags = bytes.bigEndianHalf(at: position + 60)
      let more = flags & Self.isExtended != 0 ? bytes.bigEndianHalf(at: position + 62) : 0
      // `git add --intent-to-add` makes an entry with a name and no content.
      if flags & Self.stages == 0, more & 0x2000 == 0 {
        if more & Self.skipsWorktree != 0 { skipping.append(starts.count) }
        starts.append(UInt32(position))
      } else if flags & Self.stages != 0 {
        unmerged.append(path)
      }
      position = Self.end(ofEntryAt: position, path: path)
    }
    isGapless = starts.count == total
    // Extensions with lower-case names change the meaning of the entries: a split index has most of
    // them in another file, and a sparse one has entries for folders.
    while position + 8 <= end {
      guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[position]) else { return nil }
      let size = Int(bytes.bigEndianWord(at: position + 4))
      if bytes.bigEndianWord(at: position) == 0x5452_4545, position + 8 + size <= end {
        trees = (position + 8)..<(position + 8 + size)
      }
      position += 8 + size
    }
  }

  static let stages: UInt16 = 0x3000
  /// The flag of an entry that has a second field of flags, and the skip-worktree flag in that field.
  static let isExtended: UInt16 = 0x4000
  static let skipsWorktree: UInt16 = 0x4000

  /// The range of the path of the entry that starts at `start`; a NUL follows it.
  static func path(in bytes: UnsafeRawBufferPointer, at start: Int) -> Range<Int> {
    let flags = bytes.bigEndianHalf(at: start + 60)
    let name = start + (flags & Self.isExtended != 0 ? 64 : 62)
    // The flags contain the path's length, unless it needs more than twelve bits.
    var end = name + Int(flags & 0xfff)
    if flags & 0xfff == 0xfff {
      while end < bytes.count, bytes[end] != 0 { end += 1 }
    }
    return name..<end
  }

  /// The end of the entry that starts at `start`: it is padded with one to eight zeros to a multiple of
  /// eight bytes.
  static func end(ofEntryAt start: Int, path: Range<Int>) -> Int {
    start + (path.upperBound - start + 8) & ~7
  }
}

extension UnsafeRawBufferPointer {
  func bigEndianWord(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  func bigEndianHalf(at offset: Int) -> UInt16 {
    UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
}
