/// Reads single objects from packs. What it does not find or understand is nil; whether the content
/// has the ID that was asked for is for others to check.
final class PackReader {
  private final class Pack {
    let index: PackIndexFile
    let path: String
    private(set) lazy var file = try? MappedFile(path + ".pack")

    init?(_ path: String) {
      guard let index = PackIndexFile(path + ".idx") else { return nil }
      self.index = index
      self.path = path
    }
  }

  private struct Place: Hashable {
    let pack: Int
    let offset: Int
  }

  /// Whether all packs have an index that is read here.
  let isWhole: Bool
  private(set) var unpackedBytes = 0

  private let packs: [Pack]
  private let inflater: Inflater
  private let largestObject: Int
  private var cache: ContentCache<Place>

  private static let longestChain = 4096

  init(_ paths: [String], largestObject: Int = 1 << 30, keptBytes: Int = 16 << 20) throws {
    inflater = try Inflater()
    packs = paths.compactMap { Pack($0) }
    isWhole = packs.count == paths.count
    self.largestObject = largestObject
    cache = ContentCache(capacity: keptBytes)
  }

  func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

  func ids(from first: ObjectID, where isWanted: (ObjectID) -> Bool) -> [ObjectID] {
    packs.flatMap { $0.index.ids(from: first, where: isWanted) }
  }

  func header(of id: ObjectID) -> (kind: ObjectKind, size: Int)? {
    guard let start = place(of: id), let first = entry(at: start) else { return nil }
    var size = first.header.size
    if first.header.kind == nil {
      let delta = inflater.inflate(first: PackDelta.longestSizes, of: first.content)
      guard let sizes = PackDelta.sizes(delta) else { return nil }
      size = sizes.result
    }
    var (place, header) = (start, first.header)
    for _ in 0..<Self.longestChain {
      if let kind = header.kind { return (kind, size) }
      guard let base = self.place(ofBaseOf: header, at: place), let entry = entry(at: base) else {
        return nil
      }
      (place, header) = (base, entry.header)
    }
    return nil
  }

  func object(_ id: ObjectID) -> StoredObject? {
    guard var place = place(of: id) else { return nil }
    // From the object down its chain of deltas to one that is known or whole, and back up.
    var deltas: [Place] = []
    var object = cache[place]
    while object == nil {
      guard let entry = entry(at: place), deltas.count < Self.longestChain else { return nil }
      if let kind = entry.header.kind {
        guard let content = unpack(entry) else { return nil }
        object = (kind, content)
        keep((kind, content), at: place)
      } else {
        guard let base = self.place(ofBaseOf: entry.header, at: place) else { return nil }
        deltas.append(place)
        place = base
        object = cache[place]
      }
    }
    while let (kind, base) = object, let place = deltas.popLast() {
      guard let delta = entry(at: place).flatMap(unpack),
        let content = PackDelta.applied(delta, to: base, limit: largestObject)
      else { return nil }
      object = (kind, content)
      keep((kind, content), at: place)
    }
    return object
  }

  private func keep(_ object: StoredObject, at place: Place) {
    unpackedBytes += object.data.count
    // Commits are whole, and read once.
    if object.kind != .commit { cache.keep(object, for: place) }
  }

  private func place(of id: ObjectID) -> Place? {
    for pack in packs.indices {
      if let offset = packs[pack].index.offset(of: id) { return Place(pack: pack, offset: offset) }
    }
    return nil
  }

  private func place(ofBaseOf header: PackEntryHeader, at place: Place) -> Place? {
    switch header.base {
    case .none: return nil
    case .before(let distance):
      guard distance > 0, distance <= place.offset - PackFormat.headerBytes else { return nil }
      return Place(pack: place.pack, offset: place.offset - distance)
    case .object(let id): return self.place(of: id)
    }
  }

  /// An entry of a pack, and the compressed content with all that follows it.
  private typealias Entry = (header: PackEntryHeader, content: UnsafeRawBufferPointer)

  private func entry(at place: Place) -> Entry? {
    guard let bytes = packs[place.pack].file?.bytes, place.offset >= PackFormat.headerBytes,
      place.offset < bytes.count
    else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[place.offset...])
    guard let header = try? PackEntryHeader(rest), header.size <= largestObject else { return nil }
    return (header, UnsafeRawBufferPointer(rebasing: rest[header.length...]))
  }

  private func unpack(_ entry: Entry) -> [UInt8]? {
    try? inflater.inflate(entry.content, size: entry.header.size)
  }
}
