/// Reads a pack as it arrives, before anything else does, and stops it at the first byte that goes
/// over a limit: sizes are checked by unpacking into nothing, so a header that lies or a few bytes
/// that unpack to gigabytes cost no memory.
struct PackInspector {
  private let limits: PackLimits
  private let inflater: Inflater
  private var state = State.header
  private var pending: [UInt8] = []
  private var remaining = 0
  private var packBytes = 0
  private var deltaBytes = 0
  private var object = ObjectProgress()

  /// How many objects the pack says it holds.
  private(set) var objectCount = 0

  private enum State { case header, objectHeader, content, trailer, done }

  private struct ObjectProgress {
    var type: UInt8 = 0
    var size = 0
    var unpacked = 0
    /// The first bytes of a delta, which state its sizes.
    var deltaStart: [UInt8] = []
  }

  private static let deltaHeaderBytes = 20
  private static let longestHeader = 64

  init(limits: PackLimits) throws {
    self.limits = limits
    inflater = try Inflater()
  }

  /// Whether the whole pack has been seen.
  var isComplete: Bool { state == .done }

  /// Looks at the next bytes.
  mutating func inspect(_ bytes: UnsafeRawBufferPointer) throws {
    packBytes += bytes.count
    if packBytes > limits.packBytes {
      throw PackError.overLimit("bytes in a pack", limit: limits.packBytes)
    }
    var position = 0
    while position < bytes.count {
      switch state {
      case .header: try readHeader(bytes[position])
      case .objectHeader: try readObjectHeader(bytes[position])
      case .trailer: readTrailer(bytes[position])
      case .done: throw PackError.malformed("bytes after its end")
      case .content:
        position += try readContent(UnsafeRawBufferPointer(rebasing: bytes[position...]))
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
    object = ObjectProgress()
    object.type = pending[0] >> 4 & 7
    guard sizeEnd < 9 else { throw PackError.malformed("an object's size is too large") }
    object.size = Int(pending[0] & 15)
    for index in 0..<sizeEnd { object.size |= Int(pending[index + 1] & 0x7f) << (4 + index * 7) }
    let rest = pending[(sizeEnd + 1)...]
    switch object.type {
    case 1, 2, 3: break
    case 6: guard rest.contains(where: { $0 & 0x80 == 0 }) else { return }
    case 7: guard rest.count == ObjectID.byteCount else { return }
    default: throw PackError.malformed("object type \(object.type)")
    }
    let limit =
      switch object.type {
      case 1: limits.commitBytes
      case 2: limits.treeBytes
      default: limits.objectBytes
      }
    guard object.size <= limit else {
      throw PackError.overLimit("bytes in an object", limit: limit)
    }
    try inflater.reset()
    state = .content
  }

  private mutating func readContent(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    var object = self.object
    let (consumed, ended) = try inflater.inflate(bytes) { output in
      object.unpacked += output.count
      guard object.unpacked <= object.size else {
        throw PackError.malformed("an object is larger than it says")
      }
      if object.type >= 6, object.deltaStart.count < Self.deltaHeaderBytes {
        object.deltaStart += output.prefix(Self.deltaHeaderBytes - object.deltaStart.count)
      }
    }
    self.object = object
    if ended {
      guard object.unpacked == object.size else {
        throw PackError.malformed("an object is smaller than it says")
      }
      if object.type >= 6 { try checkDelta() }
      remaining -= 1
      beginObject()
    } else if consumed < bytes.count {
      throw PackError.malformed("a compressed object is damaged")
    }
    return consumed
  }

  private mutating func checkDelta() throws {
    var rest = object.deltaStart[...]
    for _ in 0..<2 {
      var size = 0
      var shift = 0
      var ended = false
      while let byte = rest.popFirst(), shift < 56 {
        size |= Int(byte & 0x7f) << shift
        shift += 7
        if byte & 0x80 == 0 {
          ended = true
          break
        }
      }
      guard ended else { throw PackError.malformed("a delta does not state its sizes") }
      guard size <= limits.objectBytes else {
        throw PackError.overLimit("bytes in an object", limit: limits.objectBytes)
      }
      deltaBytes += size
    }
    guard deltaBytes <= limits.deltaBytes else {
      throw PackError.overLimit("bytes that deltas unpack to", limit: limits.deltaBytes)
    }
  }

  private mutating func readTrailer(_ byte: UInt8) {
    pending.append(byte)
    if pending.count == ObjectID.byteCount { state = .done }
  }
}
