/// Takes a pack apart as it arrives, and stops it at the first byte that goes over a limit.
///
/// Whole objects get their IDs here. Of a delta only the size is looked at: a header that lies, or a
/// few bytes that unpack to gigabytes, cost no memory.
struct PackStream {
  private let limits: PackLimits
  private let inflater: Inflater
  private let zlib: Zlib
  private let library: Libgit2
  private var state = State.header
  private var pending: [UInt8] = []
  private var remaining = 0
  /// Bytes of the pack so far.
  private var position = 0
  private var entry = Entry()

  /// How many objects the pack says it holds.
  private(set) var objectCount = 0
  /// Its objects so far.
  private(set) var entries = PackEntries()
  /// The bytes that it unpacks to, so far.
  private(set) var unpackedBytes = 0

  private enum State { case header, objectHeader, content, trailer, done }

  /// The object that is being read.
  private struct Entry {
    var offset = 0
    var headerBytes = 0
    var type: UInt8 = 0
    var base = Base.none
    var size = 0
    var unpacked = 0
    var crc: UInt32 = 0
    /// The object, or the first bytes of a delta, which state its sizes.
    var content: [UInt8] = []

    var isDelta: Bool { type >= 6 }
  }

  private enum Base {
    case none
    case entry(Int)
    case object(ObjectID)
  }

  private static let deltaHeaderBytes = 20
  private static let longestHeader = 64
  // What is kept for the next object.
  private static let usualObject = 1 << 20

  init(limits: PackLimits) throws {
    self.limits = limits
    inflater = try Inflater()
    zlib = try Zlib.shared.get()
    library = try Libgit2.shared.get()
  }

  /// Whether the whole pack has been seen. Its checksum is for others to look at.
  var isComplete: Bool { state == .done }

  /// Where its objects end, and its checksum begins.
  var end: Int { position - ObjectID.byteCount }

  /// Takes the next bytes.
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
    guard pending.count == 12 else { return }
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
    state = remaining == 0 ? .trailer : .objectHeader
  }

  private mutating func readObjectHeader(_ byte: UInt8) throws {
    pending.append(byte)
    guard pending.count < Self.longestHeader else {
      throw PackError.malformed("an object's header does not end")
    }
    guard let sizeEnd = pending.firstIndex(where: { $0 & 0x80 == 0 }) else { return }
    guard sizeEnd < 9 else { throw PackError.malformed("an object's size is too large") }
    let offset = position + 1 - pending.count
    let type = pending[0] >> 4 & 7
    let base: Base
    switch type {
    case 1, 2, 3, 4: base = .none
    case 6:
      guard let distance = try Self.distance(pending[(sizeEnd + 1)...]) else { return }
      guard let entry = entries.entry(at: offset - distance) else {
        throw PackError.malformed("a delta against what is no object")
      }
      base = .entry(entry)
    case 7:
      guard pending.count == sizeEnd + 1 + ObjectID.byteCount,
        let id = ObjectID(in: pending, at: sizeEnd + 1)
      else { return }
      base = .object(id)
    default: throw PackError.malformed("object type \(type)")
    }
    var size = Int(pending[0] & 15)
    for index in 0..<sizeEnd { size |= Int(pending[index + 1] & 0x7f) << (4 + index * 7) }
    let limit = ObjectKind(rawValue: Int32(type)).map(limits.bytes) ?? limits.objectBytes
    guard size <= limit else { throw PackError.overLimit("bytes in an object", limit: limit) }
    entry.offset = offset
    entry.headerBytes = pending.count
    entry.type = type
    entry.base = base
    entry.size = size
    entry.unpacked = 0
    entry.crc = pending.withUnsafeBytes { zlib.crc32(of: $0) }
    entry.content.removeAll(keepingCapacity: entry.content.capacity <= Self.usualObject)
    try inflater.reset()
    state = .content
  }

  /// How far before a delta its base begins, or nil when the bytes do not end the number.
  private static func distance(_ bytes: ArraySlice<UInt8>) throws -> Int? {
    var distance = -1
    for byte in bytes {
      guard distance < 1 << 48 else {
        throw PackError.malformed("a delta against what lies before the pack")
      }
      distance = (distance + 1) << 7 | Int(byte & 0x7f)
      if byte & 0x80 == 0 { return distance }
    }
    return nil
  }

  private mutating func readContent(_ bytes: UnsafeRawBufferPointer) throws {
    var entry = Entry()
    swap(&entry, &self.entry)
    let (consumed, ended) = try inflater.inflate(bytes) { output in
      entry.unpacked += output.count
      guard entry.unpacked <= entry.size else {
        throw PackError.malformed("an object is larger than it says")
      }
      if !entry.isDelta {
        entry.content.append(contentsOf: output)
      } else if entry.content.count < Self.deltaHeaderBytes {
        entry.content += output.prefix(Self.deltaHeaderBytes - entry.content.count)
      }
    }
    let compressed = UnsafeRawBufferPointer(rebasing: bytes[..<consumed])
    entry.crc = zlib.crc32(of: compressed, after: entry.crc)
    position += consumed
    swap(&entry, &self.entry)
    if ended {
      try endObject()
    } else if consumed < bytes.count {
      throw PackError.malformed("a compressed object is damaged")
    }
  }

  private mutating func endObject() throws {
    guard entry.unpacked == entry.size else {
      throw PackError.malformed("an object is smaller than it says")
    }
    var found = PackEntry(
      offset: entry.offset, headerBytes: UInt8(entry.headerBytes), size: UInt32(entry.size),
      crc: entry.crc)
    switch entry.base {
    case .none:
      guard let kind = ObjectKind(rawValue: Int32(entry.type)) else {
        throw PackError.malformed("object type \(entry.type)")
      }
      unpackedBytes += entry.size
      try limits.check(unpacked: unpackedBytes, ofPack: position)
      found.kind = kind
      found.id = try library.id(of: kind, entry.content)
      entries.all.append(found)
    case .entry(let base):
      try checkDelta()
      entries.append(found, basedOn: base)
    case .object(let base):
      try checkDelta()
      entries.append(found, waitingFor: base)
    }
    remaining -= 1
    beginObject()
  }

  private mutating func checkDelta() throws {
    guard let sizes = PackDelta.sizes(entry.content) else {
      throw PackError.malformed("a delta does not state its sizes")
    }
    guard max(sizes.base, sizes.result) <= limits.objectBytes else {
      throw PackError.overLimit("bytes in an object", limit: limits.objectBytes)
    }
    // The delta itself is unpacked twice.
    unpackedBytes += entry.size + sizes.result
    try limits.check(unpacked: unpackedBytes, ofPack: position)
  }

  private mutating func readTrailer(_ byte: UInt8) {
    pending.append(byte)
    if pending.count == ObjectID.byteCount { state = .done }
  }
}
