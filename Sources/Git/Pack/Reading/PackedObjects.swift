internal import Glibc
internal import System

/// Reads single objects from a repository's packs.
///
/// Loading libgit2 takes longer than reading the few objects that most questions about one note
/// need. What this reader does not find or understand it leaves to libgit2: every failure is nil.
/// Content counts only if it has the ID that was asked for.
final class PackedObjects {
  /// After so many objects libgit2 is worth its start, as it keeps what deltas are based on.
  static let mostObjects = 64
  /// Larger objects are left to libgit2, and so are longer chains of deltas.
  private static let largestObject = 1 << 28
  private static let longestChain = 4096

  private struct Pack {
    let index: PackIndexFile
    let path: String
    var file: MappedFile?
  }

  private let folder: String
  private var packs: [Pack] = []
  private let inflater: Inflater
  private(set) var readCount = 0

  /// A reader for that folder of objects; nil where objects are borrowed from elsewhere
  /// (gitrepository-layout(5), alternates).
  init?(folder: String) {
    self.folder = folder
    guard access(folder + "/info/alternates", F_OK) != 0, let inflater = try? Inflater() else {
      return nil
    }
    self.inflater = inflater
    for name in Disk.namesIfAny(in: folder + "/pack").sorted() where name.hasSuffix(".idx") {
      guard let index = PackIndexFile(folder + "/pack/" + name) else { return nil }
      packs.append(Pack(index: index, path: folder + "/pack/" + name.dropLast(4) + ".pack"))
    }
  }

  /// Whether a pack has the object.
  func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

  /// The object's kind and content, or nil.
  func object(_ id: ObjectID) -> (kind: ObjectKind, data: [UInt8])? {
    readCount += 1
    guard let found = packed(id), ObjectID.plain(found.kind, found.data) == id else { return nil }
    return found
  }

  /// The objects whose IDs begin with these digits, two at most; nil where the digits are none.
  func objects(withPrefix prefix: String) -> [ObjectID]? {
    let digits = prefix.lowercased()
    guard (4...40).contains(digits.utf8.count),
      let first = ObjectID(hex: digits + String(repeating: "0", count: 40 - digits.utf8.count))
    else { return nil }
    var found: Set<ObjectID> = []
    for pack in packs {
      found.formUnion(pack.index.ids(from: first) { $0.hex.hasPrefix(digits) })
    }
    for name in Disk.namesIfAny(in: folder + "/" + digits.prefix(2)) {
      if name.hasPrefix(digits.dropFirst(2)), let id = ObjectID(hex: digits.prefix(2) + name) {
        found.insert(id)
      }
    }
    return found.sorted()
  }

  private func packed(_ id: ObjectID) -> (kind: ObjectKind, data: [UInt8])? {
    guard var (pack, offset) = place(of: id) else { return nil }
    // From the object down its chain of deltas to a whole one, and back up.
    var deltas: [[UInt8]] = []
    while deltas.count < Self.longestChain {
      guard let entry = entry(in: pack, at: offset) else { return nil }
      switch entry.base {
      case .none:
        guard let kind = ObjectKind(rawValue: Int32(entry.type)) else { return nil }
        var data = entry.content
        while let delta = deltas.popLast() {
          guard let next = PackDelta.applied(delta, to: data, limit: Self.largestObject) else {
            return nil
          }
          data = next
        }
        return (kind, data)
      case .offset(let base): offset = base
      case .object(let base):
        guard let found = place(of: base) else { return nil }
        (pack, offset) = found
      }
      deltas.append(entry.content)
    }
    return nil
  }

  private func place(of id: ObjectID) -> (pack: Int, offset: Int)? {
    for pack in packs.indices {
      if let offset = packs[pack].index.offset(of: id) { return (pack, offset) }
    }
    return nil
  }

  private enum Base {
    case none
    case offset(Int)
    case object(ObjectID)
  }

  private struct Entry {
    let type: UInt8
    let base: Base
    let content: [UInt8]
  }

  private func entry(in pack: Int, at offset: Int) -> Entry? {
    if packs[pack].file == nil { packs[pack].file = MappedFile(packs[pack].path) }
    guard let bytes = packs[pack].file?.bytes, offset >= 12, offset < bytes.count else {
      return nil
    }
    var position = offset
    func next() -> UInt8? {
      guard position < bytes.count else { return nil }
      position += 1
      return bytes[position - 1]
    }
    guard var byte = next() else { return nil }
    let type = byte >> 4 & 7
    var size = Int(byte & 15)
    var shift = 4
    while byte & 0x80 != 0 {
      guard let more = next(), shift < 32 else { return nil }
      byte = more
      size |= Int(byte & 0x7f) << shift
      shift += 7
    }
    var base = Base.none
    if type == 6 {
      guard var byte = next() else { return nil }
      var distance = Int(byte & 0x7f)
      while byte & 0x80 != 0 {
        guard let more = next(), distance < 1 << 48 else { return nil }
        byte = more
        distance = (distance + 1) << 7 | Int(byte & 0x7f)
      }
      guard distance > 0, distance <= offset - 12 else { return nil }
      base = .offset(offset - distance)
    } else if type == 7 {
      guard position + ObjectID.byteCount <= bytes.count,
        let id = ObjectID(bytes: bytes[position..<position + ObjectID.byteCount])
      else { return nil }
      position += ObjectID.byteCount
      base = .object(id)
    }
    guard size <= Self.largestObject,
      let content = try? inflater.inflate(
        UnsafeRawBufferPointer(rebasing: bytes[position...]), size: size)
    else { return nil }
    return Entry(type: type, base: base, content: content)
  }
}
