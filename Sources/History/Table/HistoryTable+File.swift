internal import Git

// The file `.git/notes/cache/history`, a cache that can be made again at any time. Numbers are
// little-endian, of 4 bytes where nothing else is said; an absent path is 2^32 - 1, an absent blob
// zeros.
//
//   8 bytes  "notesHT2"
//   the number of paths, then of each its length and bytes; the same of the authors' names
//   the number of versions, then of each:
//     its ID; the author's time (8 bytes); the author's number; 1 for a derived merge, or 0
//     the number of its parents, then of each its number
//     the number of its changes, then of each: path, former path, old blob, new blob
//     the number of its moves, then of each: parent's position, path, former path
//   8 bytes  checksum of all before
//
// A file that is broken in any way is as good as none: the checksum finds damage, and the bounds are
// checked all the same. It says nothing that could not be read from the commits whose IDs it names, so
// that a table of another notebook is harmless: no version of this one is in it.
extension HistoryTable {
  private static let magic = Array("notesHT2".utf8)
  fileprivate static let absent = Int(UInt32.max)

  /// The content of the file.
  var serialized: [UInt8] {
    var file = Self.magic
    file.reserveCapacity(versions.count * 160)
    func add(_ number: Int) {
      for shift in stride(from: 0, to: 32, by: 8) {
        file.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    func add(long number: Int64) {
      add(Int(number))
      add(Int(number >> 32))
    }
    for texts in [paths.map(\.bytes), authors.map { Array($0.utf8) }] {
      add(texts.count)
      for text in texts {
        add(text.count)
        file += text
      }
    }
    add(versions.count)
    for version in versions {
      version.id.appendBytes(to: &file)
      add(long: version.time)
      add(version.author)
      add(version.isDerived ? 1 : 0)
      add(version.parents.count)
      for parent in parents[version.parents] { add(parent) }
      add(version.changes.count)
      for change in changes[version.changes] {
        add(change.path)
        add(change.former ?? Self.absent)
        (change.old ?? .zero).appendBytes(to: &file)
        (change.new ?? .zero).appendBytes(to: &file)
      }
      add(version.moves.count)
      for move in moves[version.moves] {
        for number in [move.parent, move.path, move.former] { add(number) }
      }
    }
    add(long: Int64(bitPattern: Self.checksum(of: file[...])))
    return file
  }

  /// Reads the content of the file, or returns nil when anything about it is wrong.
  init?(parsing file: [UInt8]) {
    guard file.starts(with: Self.magic), file.count >= 16 else { return nil }
    var reader = TableReader(file: file, position: file.count - 8, end: file.count)
    let checksum = Self.checksum(of: file.dropLast(8))
    guard reader.long() == Int64(bitPattern: checksum) else { return nil }
    reader = TableReader(file: file, position: Self.magic.count, end: file.count - 8)
    paths = reader.texts { TreePath(bytes: $0) }
    authors = reader.texts { String(decoding: $0, as: UTF8.self) }
    let numbers = reader.list()
    versions.reserveCapacity(numbers.count)
    changes.reserveCapacity(file.count / 56)
    for number in numbers {
      let (id, time) = (reader.id() ?? .zero, reader.long())
      let author = reader.number(below: authors.count)
      let isDerived = reader.number(below: 2) == 1
      for _ in reader.list() { parents.append(reader.number(below: number)) }
      for _ in reader.list() {
        changes.append(
          Change(
            path: reader.number(below: paths.count),
            former: reader.number(belowIfThere: paths.count), old: reader.id(), new: reader.id()))
      }
      for _ in reader.list() {
        moves.append(
          Move(
            parent: reader.number(below: Self.absent), path: reader.number(below: paths.count),
            former: reader.number(below: paths.count)))
      }
      // What follows something broken says nothing.
      if reader.isBroken { return nil }
      endVersion(id, time: time, author: author, isDerived: isDerived)
    }
    guard !reader.isBroken, reader.position == reader.end else { return nil }
  }
}

extension HistoryTable {
  /// 64 bits that change with every bit of the file. Each step can be undone, so two files that
  /// differ in one word never have the same sum.
  static func checksum(of file: ArraySlice<UInt8>) -> UInt64 {
    let bytes = file.span.bytes
    var sum = UInt64(bytes.byteCount) &* 0x9e37_79b9_7f4a_7c15
    func add(_ word: UInt64) {
      sum = (sum ^ word) &* 0xff51_afd7_ed55_8ccd
      sum ^= sum >> 32
    }
    let words = bytes.byteCount / 8
    for word in 0..<words {
      add(
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)))
    }
    for byte in file.dropFirst(8 * words) { add(UInt64(byte)) }
    return sum
  }
}

/// Takes a file apart. Once something was missing or out of bounds, everything else is.
private struct TableReader {
  let file: [UInt8]
  var position: Int
  let end: Int
  var isBroken = false

  private mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>() -> Integer {
    let size = MemoryLayout<Integer>.size
    guard !isBroken, end - position >= size else {
      isBroken = true
      return 0
    }
    defer { position += size }
    return Integer(
      littleEndian: file.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Integer.self))
  }

  mutating func long() -> Int64 { integer() }

  mutating func number(below limit: Int) -> Int {
    let number = Int(integer() as UInt32)
    if number >= limit { isBroken = true }
    return number
  }

  mutating func number(belowIfThere limit: Int) -> Int? {
    let number = number(below: .max)
    if number == HistoryTable.absent { return nil }
    if number >= limit { isBroken = true }
    return number
  }

  /// The positions of a list, whose length is told first. Each thing in it takes a byte at least.
  mutating func list() -> Range<Int> {
    let count = number(below: end - position)
    return 0..<(isBroken ? 0 : count)
  }

  /// An object's ID; nil for zeros.
  mutating func id() -> ObjectID? {
    guard !isBroken, position <= end - ObjectID.byteCount, let id = ObjectID(in: file, at: position)
    else {
      isBroken = true
      return nil
    }
    position += ObjectID.byteCount
    return id == .zero ? nil : id
  }

  mutating func texts<Text>(_ text: (ArraySlice<UInt8>) -> Text) -> [Text] {
    list().map { _ in
      let length = list().count
      defer { position += length }
      return text(file[position..<position + length])
    }
  }
}
