/// Parses a pack as it arrives, and stops at the first byte over a limit. Whole objects get their
/// IDs. For a delta only the stated sizes are read, so a false size costs no memory.
struct PackStream {
  private let limits: PackLimits
  private let unpacking: UnpackingLimit
  private let inflater: Inflater
  private let zlib: Zlib
  private var state = State.header
  private var pending: [UInt8] = []
  private var remaining = 0
  private var position = 0
  private var entry: Entry?
  /// The object that is being read, or the first bytes of a delta, which give its sizes.
  private var content: [UInt8] = []

  private(set) var objectCount = 0
  private(set) var entries = PackEntries()
  private(set) var unpackedBytes = 0
  /// The total size of the objects that arrived, in bytes; a delta counts with the size of its
  /// result.
  var contentBytes: Int {
    let isPartial = entry?.header.kind != nil
    return wholeBytes + (isPartial ? content.count : 0)
  }
  private var wholeBytes = 0

  private enum State { case header, objectHeader, content, trailer, done }

  private struct Entry {
    let offset: Int
    let header: PackEntryHeader
    var unpacked = 0
    var crc: UInt32
  }

  init(limits: PackLimits, _ unpacking: UnpackingLimit) throws {
    (self.limits, self.unpacking) = (limits, unpacking)
    inflater = try Inflater()
    zlib = try Zlib.shared.get()
  }

  /// Moves the entries out, because there may be millions. Call it only once.
  mutating func takeEntries() -> PackEntries {
    var taken = PackEntries()
    swap(&taken, &entries)
    return taken
  }

  /// Whether the whole pack has arrived. The caller checks its checksum.
  var isComplete: Bool { state == .done }

  /// The position at which the pack's objects end and its checksum begins.
  var end: Int { position - ObjectID.byteCount }

  mutating func read(_ bytes: UnsafeRawBufferPointer) throws {
    if position + bytes.count > limits.packBytes {
      throw PackError.overLimit("bytes in a pack", limit: limits.packBytes)
    }
    let start = position
    while position - start < bytes.count {
      let byte = bytes[position - start]
      switch state {
      case .header: try readHeader(byte)
      case .objectHeader: try readObjectHeader(byte)
      case .trailer: readTrailer(byte)
      case .done: throw PackError.malformed("bytes after its end")
      case .content:
        try readContent(UnsafeRawBufferPointer(rebasing: bytes[(position - start)...]))
        continue
      }
      position += 1
    }
  }

  private mutating func readHeader(_ byte: UInt8) throws {
    pending.append(byte)
    guard pending.count == PackFormat.headerBytes else { return }
    guard Array(pending[..<8]) == Array("PACK".utf8) + [0, 0, 0, 2] else {
      throw PackError.malformed("not a version 2 pack")
    }
    objectCount = pending[8...].reduce(0) { $0 << 8 | Int($1) }
    guard objectCount <= limits.objects else {
      throw PackError.overLimit("objects in a pack", limit: limits.objects)
    }
    remaining = objectCount
    beginObject()
  }

  private mutating func beginObject() {
    pending.removeAll(keepingCapacity: true)
    // Frees a large object before the received pack is merged.
    (entry, content) = (nil, [])
    state = remaining == 0 ? .trailer : .objectHeader
  }

  private mutating func readObjectHeader(_ byte: UInt8) throws {
    pending.append(byte)
    guard let header = try pending.withUnsafeBytes({ try PackEntryHeader($0) }) else { return }
    let offset = position + 1 - pending.count
    if case .before(let distance) = header.base, entries.entry(at: offset - distance) == nil {
      throw PackError.malformed("a delta against what is no object")
    }
    let limit = header.kind.map(limits.bytes) ?? limits.largestObject
    guard header.size <= limit else {
      throw PackError.overLimit("bytes in an object", limit: limit)
    }
    entry = Entry(
      offset: offset, header: header, crc: pending.withUnsafeBytes { zlib.crc32(of: $0) })
    try inflater.reset()
    state = .content
  }

  private mutating func readContent(_ bytes: UnsafeRawBufferPointer) throws {
    guard var entry else { return }
    let header = entry.header
    var content: [UInt8] = []
    swap(&content, &self.content)
    let (consumed, ended) = try inflater.inflate(bytes) { output in
      entry.unpacked += output.count
      guard entry.unpacked <= header.size else {
        throw PackError.malformed("an object is larger than it says")
      }
      if header.kind != nil {
        content.append(contentsOf: output)
      } else if content.count < PackDelta.longestSizes {
        content += output.prefix(PackDelta.longestSizes - content.count)
      }
    }
    swap(&content, &self.content)
    let compressed = UnsafeRawBufferPointer(rebasing: bytes[..<consumed])
    entry.crc = zlib.crc32(of: compressed, after: entry.crc)
    self.entry = entry
    position += consumed
    if ended {
      try endObject(entry)
    } else if consumed < bytes.count {
      throw PackError.malformed("a compressed object is damaged")
    }
  }

  private mutating func endObject(_ entry: Entry) throws {
    let header = entry.header
    guard entry.unpacked == header.size else {
      throw PackError.malformed("an object is smaller than it says")
    }
    var found = PackEntry(offset: entry.offset, crc: entry.crc)
    if let kind = header.kind {
      unpackedBytes += header.size
      wholeBytes += header.size
      try unpacking.check(unpackedBytes, ofPack: position)
      found.kind = kind
      found.id = try limits.id(of: kind, content)
      if kind == .commit { unpacking.arrived(found.id, content) }
    } else {
      try checkDelta(ofBytes: header.size)
    }
    switch header.base {
    case .none: entries.all.append(found)
    case .object(let base): entries.append(found, waitingFor: base)
    case .before(let distance):
      guard let base = entries.entry(at: entry.offset - distance) else {
        throw PackError.malformed("a delta against what is no object")
      }
      entries.append(found, basedOn: base)
    }
    remaining -= 1
    beginObject()
  }

  private mutating func checkDelta(ofBytes size: Int) throws {
    guard let sizes = PackDelta.sizes(content) else {
      throw PackError.malformed("a delta does not state its sizes")
    }
    guard max(sizes.base, sizes.result) <= limits.largestObject else {
      throw PackError.overLimit("bytes in an object", limit: limits.largestObject)
    }
    // The delta itself is also unpacked, once on arrival and once when it is applied.
    unpackedBytes += size + sizes.result
    wholeBytes += sizes.result
    try unpacking.check(unpackedBytes, ofPack: position)
  }

  private mutating func readTrailer(_ byte: UInt8) {
    pending.append(byte)
    if pending.count == ObjectID.byteCount { state = .done }
  }
}
