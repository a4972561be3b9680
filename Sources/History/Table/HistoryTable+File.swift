internal import Git

// The file `.git/notes/cache/history`, a cache that can be made again at any time:
//
//   8 bytes  "notesHT1"
//   then for each column, in the order of `serialized`: its length in bytes (8 bytes), its content
//   8 bytes  checksum of all before
//
// Numbers are little-endian. A file that is broken in any way is as good as none: the checksum
// finds damage, and the bounds are checked all the same, because a table is not looked at again.
// It says nothing that could not be read from the commits whose IDs it names, so that a table of
// another notebook is harmless: no version of this one is in it.
extension HistoryTable {
  private static let magic = Array("notesHT1".utf8)

  /// The content of the file.
  var serialized: [UInt8] {
    var file = Self.magic
    file.reserveCapacity(ids.count * 160)
    let short = [
      generations, authors, flags, parentEnds, changeEnds, parents, changePaths,
      changeFormers, moveVersions, moveParents, movePaths, moveFormers, paths.ends,
      authorTexts.ends,
    ]
    for column in [times, orders] { Self.add(column, to: &file) }
    for column in short { Self.add(column, to: &file) }
    for column in [ids, changeOld, changeNew] { Self.add(column, to: &file) }
    for column in [paths.bytes, authorTexts.bytes] { Self.add(column, to: &file) }
    Self.add(integer: Self.checksum(of: file[...]), to: &file)
    return file
  }

  /// Reads the content of the file, or returns nil when anything about it is wrong.
  init?(parsing file: [UInt8]) {
    guard file.count >= 16, file.starts(with: Self.magic) else { return nil }
    let end = file.count - 8
    let stored = file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: end, as: UInt64.self) }
    guard UInt64(littleEndian: stored) == Self.checksum(of: file[..<end]) else { return nil }
    var reader = ColumnReader(file: file, position: Self.magic.count, end: end)
    times = reader.column()
    orders = reader.column()
    generations = reader.column()
    authors = reader.column()
    flags = reader.column()
    parentEnds = reader.column()
    changeEnds = reader.column()
    parents = reader.column()
    changePaths = reader.column()
    changeFormers = reader.column()
    moveVersions = reader.column()
    moveParents = reader.column()
    movePaths = reader.column()
    moveFormers = reader.column()
    paths.ends = reader.column()
    authorTexts.ends = reader.column()
    ids = reader.column()
    changeOld = reader.column()
    changeNew = reader.column()
    paths.bytes = reader.column()
    authorTexts.bytes = reader.column()
    guard reader.isAtEnd, isSound else { return nil }
  }

  /// Whether every number points at something.
  private var isSound: Bool {
    let changes = changePaths.count
    guard
      [orders.count, generations.count, authors.count, flags.count].allSatisfy({ $0 == count }),
      parentEnds.count == count, changeEnds.count == count, ids.count == count,
      changeFormers.count == changes, changeOld.count == changes,
      changeNew.count == changes, moveParents.count == moveVersions.count,
      movePaths.count == moveVersions.count, moveFormers.count == moveVersions.count,
      Self.areEnds(parentEnds, of: parents.count), Self.areEnds(changeEnds, of: changes),
      Self.areEnds(paths.ends, of: paths.bytes.count),
      Self.areEnds(authorTexts.ends, of: authorTexts.bytes.count)
    else { return false }
    let pathCount = UInt32(paths.ends.count)
    let authorCount = UInt32(authorTexts.ends.count)
    return authors.allSatisfy { $0 < authorCount }
      && changePaths.allSatisfy { $0 < pathCount } && movePaths.allSatisfy { $0 < pathCount }
      && moveFormers.allSatisfy { $0 < pathCount }
      && changeFormers.allSatisfy { $0 < pathCount || $0 == Self.none }
      && moveVersions.indices.dropFirst().allSatisfy { moveVersions[$0 - 1] <= moveVersions[$0] }
      && parentsComeFirst
  }

  private var parentsComeFirst: Bool {
    var position = 0
    for version in 0..<count {
      let end = Int(parentEnds[version])
      while position < end {
        if Int(parents[position]) >= version { return false }
        position += 1
      }
    }
    return true
  }

  /// Whether these are the ends of runs that fill `count` places.
  private static func areEnds(_ ends: TableColumn<UInt32>, of count: Int) -> Bool {
    var last: UInt32 = 0
    for end in ends {
      if end < last { return false }
      last = end
    }
    return Int(last) == count
  }

  private static func add<Value>(_ column: TableColumn<Value>, to file: inout [UInt8]) {
    add(integer: UInt64(column.count * Value.width), to: &file)
    column.append(to: &file)
  }

  private static func add(integer: UInt64, to file: inout [UInt8]) {
    withUnsafeBytes(of: integer.littleEndian) { file.append(contentsOf: $0) }
  }

  /// 64 bits that change with every bit of the file. Each step can be undone, so two files that
  /// differ in one word never have the same sum.
  static func checksum(of bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { bytes in
      var sum = UInt64(bytes.count) &* 0x9e37_79b9_7f4a_7c15
      var offset = 0
      func add(_ word: UInt64) {
        sum = (sum ^ word) &* 0xff51_afd7_ed55_8ccd
        sum ^= sum >> 32
      }
      while offset + 8 <= bytes.count {
        add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        offset += 8
      }
      while offset < bytes.count {
        add(UInt64(bytes[offset]))
        offset += 1
      }
      return sum
    }
  }

  /// Takes columns from a file one by one; after the first that does not fit all are empty.
  private struct ColumnReader {
    let file: [UInt8]
    var position: Int
    let end: Int
    var isBroken = false

    var isAtEnd: Bool { !isBroken && position == end }

    mutating func column<Value>() -> TableColumn<Value> {
      guard !isBroken, end - position >= 8 else { return fail() }
      let length = file.withUnsafeBytes {
        UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      }
      position += 8
      guard length <= UInt64(end - position), Int(length).isMultiple(of: Value.width) else {
        return fail()
      }
      defer { position += Int(length) }
      return TableColumn(in: file, at: position, count: Int(length) / Value.width)
    }

    private mutating func fail<Value>() -> TableColumn<Value> {
      isBroken = true
      return TableColumn()
    }
  }
}
