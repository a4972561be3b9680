internal import Glibc
internal import System

/// The index of a pack, version 2 (gitformat-pack(5)): the offset of each object in the pack.
struct PackIndexFile {
  private let file: MappedFile
  let count: Int

  private static let fanoutStart = 8
  private static let idsStart = fanoutStart + 256 * 4

  /// Opens an index; nil if it has another version.
  init?(_ path: String) {
    // An unreadable index counts as missing; its objects are then reported missing.
    guard let file = try? MappedFile(path), file.word(at: 0) == 0xff74_4f63, file.word(at: 4) == 2,
      let count = file.word(at: Self.fanoutStart + 255 * 4),
      file.bytes.count >= Self.idsStart + Int(count) * 28 + 40
    else { return nil }
    self.file = file
    self.count = Int(count)
  }

  func offset(of id: ObjectID) -> Int? {
    let byte = Int(id.firstByte)
    func fanout(_ byte: Int) -> Int {
      byte < 0 ? 0 : min(Int(file.word(at: Self.fanoutStart + byte * 4) ?? 0), count)
    }
    let (low, high) = (fanout(byte - 1), fanout(byte))
    guard low < high else { return nil }
    let position = (low..<high).partitionPoint { self.id(at: $0) < id }
    return position < high && self.id(at: position) == id ? offset(at: position) : nil
  }

  func id(at position: Int) -> ObjectID {
    ObjectID(in: file.bytes.bytes, at: Self.idsStart + position * ObjectID.byteCount) ?? .zero
  }

  /// At most two IDs from `first` on for which `isWanted` is true; matching IDs are neighbours.
  func ids(from first: ObjectID, where isWanted: (ObjectID) -> Bool) -> [ObjectID] {
    let start = (0..<count).partitionPoint { id(at: $0) < first }
    return (start..<min(start + 2, count)).map(id).filter(isWanted)
  }

  /// The CRC-32 of the object's bytes in the pack.
  func crc(at position: Int) -> UInt32? {
    file.word(at: Self.idsStart + count * ObjectID.byteCount + position * 4)
  }

  func offset(at position: Int) -> Int? {
    let offsets = Self.idsStart + count * 24
    guard let word = file.word(at: offsets + position * 4) else { return nil }
    if word & 1 << 31 == 0 { return Int(word) }
    let large = offsets + count * 4 + Int(word & ~(1 << 31)) * 8
    guard let high = file.word(at: large), let low = file.word(at: large + 4), high >> 31 == 0
    else { return nil }
    return Int(high) << 32 | Int(low)
  }
}
