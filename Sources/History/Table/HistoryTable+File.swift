internal import Git

// The file `.git/notes/cache/history`, a cache that can be made again at any time. Numbers are little-
// endian, of 4 bytes where nothing else is said; no path is 2^32 - 1, no blob zeros.
//
//   8 bytes  "notesHT3"
//   the number of paths, then of each its length and bytes; the same of the authors' names
//   how many bytes the versions take, then of each:
//     its ID; the author's time, and the latest of it and all it was made on (8 bytes each); its
//     author; 1 for a derived merge, or 0; its generation; where its parents, changes and moves begin
//     and end
//   the same of the parents: a version's number each
//   the same of the changes: path, former path, old blob, new blob
//   the same of the moves: the parent's position, path, former path
//   8 bytes  checksum of all before
//
// A file that is broken in any way is as good as none: the checksum finds damage, and the bounds are
// checked all the same. It says nothing that could not be read from the commits whose IDs it names, so
// that a table of another notebook is harmless: no version of this one is in it.
extension HistoryTable {
  private static let magic = Array("notesHT3".utf8)

  /// The content of the file.
  var serialized: [UInt8] {
    var file = Self.magic[...]
    for texts in [paths.map(\.bytes), authors.map { Array($0.utf8) }] {
      file.append(texts.count)
      for text in texts { file.append(bytes: text[...]) }
    }
    for bytes in [versions.bytes, parents.bytes, changes.bytes, moves.bytes] {
      file.append(bytes: bytes)
    }
    file.append(long: Int64(bitPattern: Self.checksum(of: file)))
    return Array(file)
  }

  /// Reads the content of the file, or returns nil when anything about it is wrong.
  init?(parsing file: [UInt8]) {
    guard file.starts(with: Self.magic), file.count >= 16,
      file.span.bytes.long(at: file.count - 8)
        == Int64(bitPattern: Self.checksum(of: file.dropLast(8)))
    else { return nil }
    var rest = TableReader(file: file.dropLast(8), position: Self.magic.count)
    guard let paths = rest.texts(), let authors = rest.texts(),
      let versions: Records<Version> = rest.records(), let parents: Records<Int> = rest.records(),
      let changes: Records<Change> = rest.records(), let moves: Records<Move> = rest.records(),
      rest.position == rest.file.endIndex
    else { return nil }
    self.paths = paths.map { TreePath(bytes: $0) }
    self.authors = authors.map { String(decoding: $0, as: UTF8.self) }
    (self.versions, self.parents, self.changes, self.moves) = (versions, parents, changes, moves)
    guard isSound else { return nil }
  }

  /// Whether every number is that of something there.
  private var isSound: Bool {
    var number = -1
    return versions.allSatisfy { version in
      number += 1
      return version.author < authors.count && version.changes.upperBound <= changes.count
        && version.moves.upperBound <= moves.count && version.parents.upperBound <= parents.count
        && parents[version.parents].allSatisfy { $0 < number }
    } && changes.allSatisfy { $0.path < paths.count && ($0.former ?? 0) < paths.count }
      && moves.allSatisfy { $0.path < paths.count && $0.former < paths.count }
  }
}

/// What a record of the table is made of.
protocol TableRecord {
  static var size: Int { get }
  init(_ bytes: RawSpan, at start: Int)
  func append(to bytes: inout ArraySlice<UInt8>)
}

/// Records of one kind. They stay as the file has them, and a command takes apart those alone that it
/// needs.
struct Records<Record: TableRecord>: RandomAccessCollection, Equatable {
  fileprivate(set) var bytes: ArraySlice<UInt8> = []

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.count / Record.size }
  subscript(position: Int) -> Record { Record(bytes.span.bytes, at: position * Record.size) }
  mutating func append(_ record: Record) { record.append(to: &bytes) }
}

extension Int: TableRecord {
  static var size: Int { 4 }
  init(_ bytes: RawSpan, at start: Int) { self = bytes.number(at: start) }
  func append(to bytes: inout ArraySlice<UInt8>) { bytes.append(self) }
}

extension HistoryTable.Version: TableRecord {
  static var size: Int { 72 }

  init(_ bytes: RawSpan, at start: Int) {
    id = ObjectID(in: bytes, at: start)
    time = bytes.long(at: start + 20)
    order = bytes.long(at: start + 28)
    author = bytes.number(at: start + 36)
    isDerived = bytes.number(at: start + 40) == 1
    generation = bytes.number(at: start + 44)
    parents = bytes.range(at: start + 48)
    changes = bytes.range(at: start + 56)
    moves = bytes.range(at: start + 64)
  }

  func append(to bytes: inout ArraySlice<UInt8>) {
    bytes += id.bytes
    bytes.append(long: time)
    bytes.append(long: order)
    let places = [parents, changes, moves].flatMap { [$0.lowerBound, $0.upperBound] }
    for number in [author, isDerived ? 1 : 0, generation] + places { bytes.append(number) }
  }
}

extension HistoryTable.Change: TableRecord {
  static var size: Int { 48 }
  private static let absent = Int(UInt32.max)

  init(_ bytes: RawSpan, at start: Int) {
    path = bytes.number(at: start)
    let formerPath = bytes.number(at: start + 4)
    former = formerPath == Self.absent ? nil : formerPath
    let (oldID, newID) = (ObjectID(in: bytes, at: start + 8), ObjectID(in: bytes, at: start + 28))
    old = oldID == .zero ? nil : oldID
    new = newID == .zero ? nil : newID
  }

  func append(to bytes: inout ArraySlice<UInt8>) {
    bytes.append(path)
    bytes.append(former ?? Self.absent)
    bytes += (old ?? .zero).bytes
    bytes += (new ?? .zero).bytes
  }
}

extension HistoryTable.Move: TableRecord {
  static var size: Int { 12 }

  init(_ bytes: RawSpan, at start: Int) {
    parent = bytes.number(at: start)
    path = bytes.number(at: start + 4)
    former = bytes.number(at: start + 8)
  }

  func append(to bytes: inout ArraySlice<UInt8>) {
    for number in [parent, path, former] { bytes.append(number) }
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func append(_ number: Int) {
    for shift in stride(from: 0, to: 32, by: 8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  fileprivate mutating func append(long number: Int64) {
    append(Int(number))
    append(Int(number >> 32))
  }

  /// Their number, and the bytes.
  fileprivate mutating func append(bytes: ArraySlice<UInt8>) {
    append(bytes.count)
    self += bytes
  }
}

extension RawSpan {
  fileprivate func number(at offset: Int) -> Int {
    Int(UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  fileprivate func long(at offset: Int) -> Int64 {
    Int64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
  }

  fileprivate func range(at offset: Int) -> Range<Int> {
    let start = number(at: offset)
    return start..<max(start, number(at: offset + 4))
  }
}

/// Takes a file apart.
private struct TableReader {
  let file: ArraySlice<UInt8>
  var position: Int

  private mutating func number() -> Int? {
    guard file.endIndex - position >= 4 else { return nil }
    defer { position += 4 }
    return file.span.bytes.number(at: position)
  }

  private mutating func bytes() -> ArraySlice<UInt8>? {
    guard let count = number(), file.endIndex - position >= count else { return nil }
    defer { position += count }
    return file[position..<position + count]
  }

  mutating func texts() -> [ArraySlice<UInt8>]? {
    guard let count = number() else { return nil }
    var texts: [ArraySlice<UInt8>] = []
    while texts.count < count {
      guard let text = bytes() else { return nil }
      texts.append(text)
    }
    return texts
  }

  mutating func records<Record>() -> Records<Record>? {
    guard let bytes = bytes(), bytes.count.isMultiple(of: Record.size) else { return nil }
    return Records(bytes: bytes)
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
