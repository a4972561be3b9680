internal import Glibc
internal import System

/// Writes a pack that arrives in pieces into a folder, adds the bases that it lacks, and writes its
/// index. The files are not durable yet.
final class ReceivedPack {
  private let repository: Repository
  private let folder: String
  private let file: PackFile
  private let limits: PackLimits
  private let unpacking: UnpackingLimit
  private let zlib: Zlib
  private var stream: PackStream
  private var deflater: Deflater?
  private var size = 0
  private let checksum: SHA1
  /// The last bytes received, which may be the pack's checksum.
  private var last: [UInt8] = []

  var objectCount: Int { stream.objectCount }
  var contentBytes: Int { stream.contentBytes }

  var isComplete: Bool { stream.isComplete }

  init(
    in folder: String, for repository: Repository, limits: PackLimits,
    _ grant: UnpackingGrant? = nil
  ) throws {
    self.repository = repository
    self.folder = folder
    self.limits = limits
    unpacking = UnpackingLimit(limits, grant) { try repository.packs().contentBytes }
    (zlib, checksum) = (try Zlib.shared.get(), try SHA1())
    stream = try PackStream(limits: limits, unpacking)
    file = try PackFile(folder + "/arriving")
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try stream.read(bytes)
    try file.write(bytes)
    let certain = max(0, last.count + min(0, bytes.count - ObjectID.byteCount))
    checksum.update(Array(last[..<certain]))
    last.removeFirst(certain)
    let rest = max(0, bytes.count - ObjectID.byteCount)
    checksum.update(UnsafeRawBufferPointer(rebasing: bytes[..<rest]))
    last += bytes[rest...]
  }

  func finish() throws -> ReceivedObjects {
    guard isComplete else { throw PackError.malformed("it ends early") }
    let stated = last
    guard try checksum.finish() == stated else {
      throw PackError.malformed("its checksum is wrong")
    }
    var deltas = try PackDeltas(
      of: &stream, pack: MappedFile(file.path), limits: limits, unpacking)
    try deltas.apply(PackDeltas.Outside(object: object(_:), append: append))
    var entries = deltas.takeEntries()
    entries.sort { $0.id < $1.id }
    if let (twice, _) = zip(entries, entries.dropFirst()).first(where: { $0.id == $1.id }) {
      throw PackError.refused(twice.id, "it stands in the pack twice")
    }
    let checksum =
      entries.count == deltas.received
      ? stated : try file.seal(objectCount: entries.count, size: size)
    let name = folder + "/pack-" + String(hexadecimal: checksum)
    let index = try PackFormat.index(
      of: entries.lazy.map { PackedObject(id: $0.id, crc: $0.crc, offset: $0.offset) },
      checksum: checksum)
    try Disk.create(name + ".idx", index, mode: 0o444, waits: false)
    try Disk.rename(file.path, to: name + ".pack")
    let end = stream.end
    return try ReceivedObjects(
      // Leave out the added bases, which are after the received objects.
      entries.lazy.filter { $0.offset < end }.map { (id: $0.id, kind: $0.kind ?? .tag) },
      inPack: name, bytes: end, unpackedBytes: deltas.unpackedBytes, repository: repository,
      limits: limits, unpacking)
  }

  /// An object of the repository; nil if it is too large to be a base.
  private func object(_ id: ObjectID) throws -> (kind: ObjectKind, data: [UInt8])? {
    guard try repository.contains(id) else { return nil }
    let (kind, size) = try repository.header(of: id)
    guard size <= limits.bytes(of: kind) else {
      throw PackError.overLimit("bytes in an object", limit: limits.bytes(of: kind))
    }
    return try repository.object(id)
  }

  /// Adds a base from the repository, overwriting the received checksum.
  private func append(_ kind: ObjectKind, _ content: [UInt8]) throws -> PackEntry {
    let deflater = try self.deflater ?? Deflater(level: Deflater.fastest)
    if self.deflater == nil {
      self.deflater = deflater
      size = stream.end
      guard ftruncate(file.descriptor, off_t(size)) == 0, lseek(file.descriptor, 0, SEEK_END) >= 0
      else { throw GitError.system(call: "ftruncate", path: file.path, errno: errno) }
    }
    var bytes: [UInt8] = []
    PackFormat.appendHeader(type: UInt8(kind.rawValue), size: content.count, to: &bytes)
    try deflater.compress(content, into: &bytes)
    guard size + bytes.count <= limits.packBytes else {
      throw PackError.overLimit("bytes in a pack", limit: limits.packBytes)
    }
    defer { size += bytes.count }
    try file.write(bytes)
    return PackEntry(offset: size, crc: bytes.withUnsafeBytes { zlib.crc32(of: $0) })
  }
}

/// The objects of a received pack, unpacked again for checks. Their bytes also count, so a check ends at the limit
/// `PackLimits.unpackedBytes`.
final class ReceivedObjects {
  /// All objects, sorted by ID, without the added bases.
  let all: [(id: ObjectID, kind: ObjectKind)]
  /// The pack's path without `.pack`. Its index has the same path, with `.idx`.
  let path: String

  private let pack: PackReader
  private let packBytes: Int
  private let repository: Repository
  private let unpacking: UnpackingLimit
  private let unpackedOnArrival: Int
  private var unpackedElsewhere = 0

  init(
    _ all: some Sequence<(id: ObjectID, kind: ObjectKind)>, inPack path: String,
    bytes packBytes: Int, unpackedBytes: Int, repository: Repository, limits: PackLimits,
    _ unpacking: UnpackingLimit
  ) throws {
    self.all = Array(all)
    self.path = path
    self.packBytes = packBytes
    self.repository = repository
    self.unpacking = unpacking
    unpackedOnArrival = unpackedBytes
    pack = try PackReader([path], largestObject: limits.largestObject, keptBytes: limits.keptBytes)
  }

  var unpackedBytes: Int { unpackedOnArrival + pack.unpackedBytes + unpackedElsewhere }

  /// The content of an object of the pack or of the repository.
  func content(of id: ObjectID) throws -> [UInt8] {
    if id == .emptyTree { return [] }
    if let object = pack.object(id) {
      try unpacking.check(unpackedBytes, ofPack: packBytes)
      return object.data
    }
    guard try repository.contains(id) else { throw PackError.incomplete(id, needs: id) }
    let content = try repository.object(id).data
    unpackedElsewhere += content.count
    try unpacking.check(unpackedBytes, ofPack: packBytes)
    return content
  }
}
