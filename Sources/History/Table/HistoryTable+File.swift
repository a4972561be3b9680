internal import Git
internal import System

// The file `.git/notes/cache/history`, a cache that can be made again at any time. Numbers are
// little-endian, of 4 bytes unless stated otherwise; an absent path is 2^32 - 1, an absent blob all zeros.
//
//   8 bytes  "notesHT5"
//   then six parts, each with its length in bytes before it:
//     the versions, each: its ID; the author's time and the time for ordering (8 bytes each); flags
//       (1 for a derived merge, 2 for a rewritten version); the ends of its parents, changes and moves,
//       which begin at the ends of the version before
//     the parents: a version's number each
//     the changes, each: path, former path, old blob, new blob
//     the moves, each: the parent's position, path, former path
//     the end of each path; the paths
//   8 bytes  checksum of everything before
//
// A damaged file is ignored: the checksum finds damage, and the bounds are checked anyway. All its
// facts come from the commits that it names by ID, so the table of another notebook does no harm:
// no version of this notebook is in it.
extension HistoryTable {
  private static let magic = Array("notesHT5".utf8)

  /// The bytes of the file.
  var serialized: [UInt8] {
    var file = Records(ofSize: 1)
    file.bytes += Self.magic
    for records in [versions, parents, changes, moves, paths.ends, paths.all] {
      file.append(records.bytes.count)
      file.bytes += records.bytes
    }
    file.append(long: Int64(bitPattern: Self.checksum(of: file.bytes)))
    return Array(file.bytes)
  }

  /// Reads the bytes of a file; nil if they are invalid.
  init?(parsing file: [UInt8]) {
    guard file.starts(with: Self.magic), file.count >= 16 else { return nil }
    var rest = Records(ofSize: 1, file[...])
    guard rest.long(file.count - 8) == Int64(bitPattern: Self.checksum(of: file.dropLast(8)))
    else { return nil }
    rest.bytes = file[Self.magic.count..<(file.count - 8)]
    guard rest.take(&versions), rest.take(&parents), rest.take(&changes), rest.take(&moves),
      rest.take(&paths.ends), rest.take(&paths.all), rest.count == 0, isSound
    else { return nil }
  }

  /// Whether every number refers to an existing item.
  private var isSound: Bool {
    let pathCount = paths.count
    return paths.ends.ascend(to: paths.all.count)
      && versions.ascend(to: parents.count, at: 40) && versions.ascend(to: changes.count, at: 44)
      && versions.ascend(to: moves.count, at: 48)
      && versions.indices.allSatisfy { version in
        parents(of: version).allSatisfy { parents.number($0) < version }
      }
      && changes.indices.allSatisfy {
        changes.number($0) < pathCount && former(ofChange: $0) ?? 0 < pathCount
      }
      && moves.indices.allSatisfy {
        moves.number($0, at: 4) < pathCount && moves.number($0, at: 8) < pathCount
      }
  }

  /// 64 bits that depend on every bit of the file. Each step can be reversed, so two files that
  /// differ in one word never have the same checksum.
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

/// Records of equal size, one after the other.
struct Records: Equatable, Sendable {
  static let absent = Int(UInt32.max)

  let size: Int
  fileprivate(set) var bytes: ArraySlice<UInt8>

  init(ofSize size: Int, _ bytes: ArraySlice<UInt8> = []) {
    (self.size, self.bytes) = (size, bytes)
  }

  var count: Int { bytes.count / size }
  var indices: Range<Int> { 0..<count }

  /// A field of a record, at an offset from the record's start.
  func number(_ record: Int, at field: Int = 0) -> Int {
    Int(UInt32(littleEndian: load(record * size + field)))
  }

  func long(_ record: Int, at field: Int = 0) -> Int64 {
    Int64(littleEndian: load(record * size + field))
  }

  /// The object ID at this place of a record; nil if all its bytes are zero.
  func id(_ record: Int, at field: Int) -> ObjectID? {
    let id = ObjectID(in: bytes.span.bytes, at: record * size + field)
    return id == .zero ? nil : id
  }

  private func load<Integer: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Integer {
    bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Integer.self)
  }

  mutating func append(_ number: Int) {
    for shift in stride(from: 0, to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  mutating func append(long number: Int64) {
    append(Int(number))
    append(Int(number >> 32))
  }

  mutating func append(_ id: ObjectID?) { bytes += (id ?? .zero).bytes }

  /// Whether the fields are the ends of consecutive ranges up to `count`.
  fileprivate func ascend(to count: Int, at field: Int = 0) -> Bool {
    var last = 0
    for record in indices where last <= count {
      let end = number(record, at: field)
      last = end < last ? .max : end
    }
    return last == count
  }

  /// Removes the first part of a file and stores it in `records`; returns false if it does not fit
  /// such records.
  fileprivate mutating func take(_ records: inout Records) -> Bool {
    guard bytes.count >= 4 else { return false }
    let count = number(0)
    guard bytes.count - 4 >= count, count.isMultiple(of: records.size) else { return false }
    bytes = bytes.dropFirst(4)
    records.bytes = bytes.prefix(count)
    bytes = bytes.dropFirst(count)
    return true
  }
}

/// Texts, one after the other.
struct Texts: Equatable, Sendable {
  fileprivate var ends = Records(ofSize: 4)
  fileprivate var all = Records(ofSize: 1)

  var count: Int { ends.count }
  var indices: Range<Int> { ends.indices }

  subscript(position: Int) -> ArraySlice<UInt8> {
    let start = position == 0 ? 0 : ends.number(position - 1)
    return all.bytes.dropFirst(start).prefix(ends.number(position) - start)
  }

  func firstIndex(of text: [UInt8]) -> Int? { indices.first { self[$0] == text[...] } }

  /// The number of each text in the sorted `paths`. A version's paths were added in order, so the next
  /// one is usually right.
  func places(in sorted: [TreePath]) -> [Int?] {
    var next = 0
    return indices.map { position in
      let text = self[position]
      if next == sorted.count || sorted[next].bytes[...] != text {
        next = sorted.partitionPoint { $0.bytes.lexicographicallyPrecedes(text) }
        guard next < sorted.count, sorted[next].bytes[...] == text else { return nil }
      }
      next += 1
      return next - 1
    }
  }

  /// Appends a text and returns its number.
  mutating func append(_ text: some Sequence<UInt8>) -> Int {
    all.bytes += text
    ends.append(all.count)
    return ends.count - 1
  }
}
