/// Reads single objects from packs. Returns nil for an object that it cannot find or decode. The
/// caller checks that the content matches the requested ID.
final class PackReader {
  private final class Pack {
    let index: PackIndexFile
    let path: String
    // The objects of an unreadable pack are reported missing.
    private(set) lazy var file = try? MappedFile(path + ".pack")
    private(set) lazy var order = PackOrder(of: index)

    init?(_ path: String) {
      guard let index = PackIndexFile(path + ".idx") else { return nil }
      self.index = index
      self.path = path
    }
  }

  /// The place of an object.
  struct Place: Hashable, Comparable {
    fileprivate let pack: Int
    fileprivate let offset: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.pack, left.offset) < (right.pack, right.offset)
    }
  }

  /// Whether this type can read the indexes of all packs.
  private(set) var isWhole = true
  private(set) var unpackedBytes = 0

  private var packs: [Pack] = []
  private let inflater: Inflater
  private let zlib: Zlib
  private let largestObject: Int
  private var cache: ContentCache<Place>

  private static let longestChain = 4096

  /// How many entries were read.
  private var reads = 0

  /// The number of bytes of objects that are cached at first.
  private static let keptBytesAtFirst = 4 << 20

  /// - Parameter keptBytes: the most bytes of objects to cache.
  init(_ paths: [String], largestObject: Int = 1 << 30, keptBytes: Int = 32 << 20) throws {
    inflater = try Inflater()
    zlib = try Zlib.shared.get()
    self.largestObject = largestObject
    cache = ContentCache(
      capacity: min(Self.keptBytesAtFirst, keptBytes), limit: keptBytes)
    add(paths)
  }

  /// Adds packs to those that are read.
  func add(_ paths: [String]) {
    let new = paths.compactMap { Pack($0) }
    if new.count < paths.count { isWhole = false }
    packs += new
  }

  func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

  func ids(from first: ObjectID, where isWanted: (ObjectID) -> Bool) -> [ObjectID] {
    packs.flatMap { $0.index.ids(from: first, where: isWanted) }
  }

  /// The size of an object, or of the result of a delta; nil for a damaged one.
  private func size(of entry: OpenEntry) -> Int? {
    guard entry.header.kind == nil else { return entry.header.size }
    let delta = inflater.inflate(first: PackDelta.longestSizes, of: entry.content)
    return PackDelta.sizes(delta)?.result
  }

  func header(of id: ObjectID) -> (kind: ObjectKind, size: Int)? {
    guard let start = place(of: id), let first = entry(at: start), let size = size(of: first)
    else { return nil }
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

  /// The size of all objects of the packs, in bytes, read without unpacking them.
  var contentBytes: Int {
    packs.indices.reduce(0) { sum, pack in
      let index = packs[pack].index
      return (0..<index.count).reduce(sum) { sum, position in
        guard let offset = index.offset(at: position),
          let entry = entry(at: Place(pack: pack, offset: offset))
        else { return sum }
        return sum + (size(of: entry) ?? 0)
      }
    }
  }

  func object(_ id: ObjectID) -> StoredObject? {
    guard var place = place(of: id) else { return nil }
    // Follows the chain of deltas down to an object that is cached or whole, and back up.
    var deltas: [Place] = []
    var object = cache[place]
    while object == nil {
      guard let entry = entry(at: place), deltas.count < Self.longestChain else { return nil }
      if let kind = entry.header.kind {
        guard let content = unpack(entry) else { return nil }
        unpackedBytes += content.count
        object = (kind, content)
      } else {
        guard let base = self.place(ofBaseOf: entry.header, at: place) else { return nil }
        deltas.append(place)
        place = base
        object = cache[place]
      }
    }
    while let (kind, base) = object, let next = deltas.popLast() {
      // Keep the base: other deltas of the chain may need it again.
      keep((kind, base), at: place)
      place = next
      guard let delta = entry(at: place).flatMap(unpack),
        let content = PackDelta.applied(delta, to: base, limit: largestObject)
      else { return nil }
      unpackedBytes += content.count
      object = (kind, content)
    }
    // Keep only trees: notes and versions are mostly read only once.
    if let object, object.kind == .tree { keep(object, at: place) }
    return object
  }

  private func keep(_ object: StoredObject, at place: Place) { cache.keep(object, for: place) }

  func place(of id: ObjectID) -> Place? {
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

  /// An object or a delta as a pack stores it, compressed.
  struct Entry {
    let header: PackEntryHeader
    /// The object that a delta is based on.
    let base: ObjectID?
    /// The content, which is valid as long as the reader exists.
    let content: UnsafeRawBufferPointer
  }

  /// An entry whose bytes match the index's checksum; nil if they do not.
  func wholeEntry(at place: Place) -> Entry? {
    let pack = packs[place.pack]
    guard let (position, next) = pack.order.entry(at: place.offset), let bytes = pack.file?.bytes,
      let (header, rest) = entry(at: place)
    else { return nil }
    let end = next ?? bytes.count - ObjectID.byteCount
    guard end > place.offset + header.length, end <= bytes.count,
      pack.index.crc(at: position)
        == zlib.crc32(of: UnsafeRawBufferPointer(rebasing: bytes[place.offset..<end]))
    else { return nil }
    let base: ObjectID?
    switch header.base {
    case .none: base = nil
    case .object(let id): base = id
    case .before(let distance):
      guard let entry = pack.order.entry(at: place.offset - distance) else { return nil }
      base = pack.index.id(at: entry.position)
    }
    let length = end - place.offset - header.length
    return Entry(
      header: header, base: base, content: UnsafeRawBufferPointer(rebasing: rest[..<length]))
  }

  /// The header of a pack's entry, and the compressed content with everything after it.
  private typealias OpenEntry = (header: PackEntryHeader, content: UnsafeRawBufferPointer)

  private func entry(at place: Place) -> OpenEntry? {
    guard let bytes = packs[place.pack].file?.bytes, place.offset >= PackFormat.headerBytes,
      place.offset < bytes.count
    else { return nil }
    reads += 1
    if reads % MappedFile.readsUntilRelease == 0 { packs[place.pack].file?.releasePages() }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[place.offset...])
    // A damaged entry counts as missing, and is reported as such.
    guard let header = try? PackEntryHeader(rest), header.size <= largestObject else { return nil }
    return (header, UnsafeRawBufferPointer(rebasing: rest[header.length...]))
  }

  private func unpack(_ entry: OpenEntry) -> [UInt8]? {
    // A damaged entry counts as missing.
    try? inflater.inflate(entry.content, size: entry.header.size)
  }
}
