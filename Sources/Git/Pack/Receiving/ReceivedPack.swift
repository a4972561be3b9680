internal import Glibc
internal import System

/// Writes a pack that arrives in pieces into a folder, completes it with the bases it lacks, and
/// writes its index.
///
/// The files are not durable yet: that is for whoever takes the pack over.
final class ReceivedPack {
  private let repository: Repository
  private let folder: String
  private let path: String
  private let descriptor: Int32
  private let limits: PackLimits
  private let zlib: Zlib
  private var stream: PackStream
  private var deflater: Deflater?
  private var size = 0

  /// How many objects the pack says it holds.
  var objectCount: Int { stream.objectCount }

  /// Whether all of it has come.
  var isComplete: Bool { stream.isComplete }

  /// Begins a pack in `folder`.
  ///
  /// - Parameter repository: has the objects that deltas may be based on.
  init(in folder: String, for repository: Repository, limits: PackLimits) throws {
    self.repository = repository
    self.folder = folder
    self.limits = limits
    zlib = try Zlib.shared.get()
    stream = try PackStream(limits: limits)
    path = folder + "/arriving"
    descriptor = try Disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o444)
  }

  deinit { close(descriptor) }

  /// Takes the next bytes, unless they break a limit.
  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try stream.read(bytes)
    try write(bytes)
  }

  /// The pack with its index.
  struct Finished {
    /// Path of both without `.pack` and `.idx`.
    let path: String
    /// Its objects. Bases that were added are not among them.
    let objects: ReceivedObjects
  }

  /// Resolves the deltas and writes the index.
  ///
  /// - Throws: `PackError` when the pack is not whole, or breaks a rule of notes-protocol(7).
  func finish() throws -> Finished {
    guard isComplete else { throw PackError.malformed("it ends early") }
    guard let file = MappedFile(path) else {
      throw GitError.system(call: "mmap", path: path, errno: errno)
    }
    let pack = UnsafeRawBufferPointer(rebasing: file.bytes[..<stream.end])
    var sum = PackChecksum()
    sum.update(pack)
    let stated = Array(file.bytes[stream.end...])
    guard sum.finish() == stated else { throw PackError.malformed("its checksum is wrong") }
    var deltas = try PackDeltas(of: stream, pack: pack, limits: limits)
    try deltas.apply(
      PackDeltas.Outside(object: object(_:)) { [self] kind, content in
        try append(kind, content)
      })
    let entries = deltas.entries.all
    let order = entries.indices.sorted { entries[$0].id < entries[$1].id }
    for (former, next) in zip(order, order.dropFirst()) where entries[former].id == entries[next].id
    {
      throw PackError.refused(entries[next].id, "it stands in the pack twice")
    }
    let checksum =
      entries.count == deltas.received
      ? stated : try complete(objectCount: entries.count)
    let name = folder + "/pack-" + String(hexadecimal: checksum)
    let index = PackFormat.index(
      of: order.map {
        PackedObject(id: entries[$0].id, crc: entries[$0].crc, offset: entries[$0].offset)
      }, checksum: checksum)
    try Disk.create(name + ".idx", index, mode: 0o444, waits: false)
    try Disk.rename(path, to: name + ".pack")
    let received = order.filter { $0 < deltas.received }.map { entries[$0] }
    return Finished(
      path: name,
      objects: try ReceivedObjects(
        received.map { ($0.id, $0.kind ?? .tag) }, inPack: name, bytes: stream.end,
        unpackedBytes: deltas.unpackedBytes, repository: repository, limits: limits))
  }

  /// An object of the repository, unless it is too large to be a base.
  private func object(_ id: ObjectID) throws -> (kind: ObjectKind, data: [UInt8])? {
    guard try repository.contains(id) else { return nil }
    let (kind, size) = try repository.header(of: id)
    guard size <= limits.bytes(of: kind) else {
      throw PackError.overLimit("bytes in an object", limit: limits.bytes(of: kind))
    }
    return try repository.object(id)
  }

  /// Adds a base from the repository, over the checksum that came.
  private func append(_ kind: ObjectKind, _ content: [UInt8]) throws -> PackEntry {
    let deflater = try self.deflater ?? Deflater(level: Deflater.fastest)
    if self.deflater == nil {
      self.deflater = deflater
      size = stream.end
      guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
        throw GitError.system(call: "ftruncate", path: path, errno: errno)
      }
    }
    var bytes: [UInt8] = []
    PackFormat.appendHeader(type: UInt8(kind.rawValue), size: content.count, to: &bytes)
    try deflater.compress(content, into: &bytes)
    guard size + bytes.count <= limits.packBytes else {
      throw PackError.overLimit("bytes in a pack", limit: limits.packBytes)
    }
    defer { size += bytes.count }
    try bytes.withUnsafeBytes { try write($0) }
    return PackEntry(offset: size, crc: bytes.withUnsafeBytes { zlib.crc32(of: $0) })
  }

  /// States the new number of objects, and the checksum that goes with it.
  private func complete(objectCount: Int) throws -> [UInt8] {
    let header = PackFormat.header(objectCount: objectCount)
    guard pwrite(descriptor, header, header.count, 0) == header.count else {
      throw GitError.system(call: "write", path: path, errno: errno)
    }
    let checksum = try PackChecksum.ofFile(descriptor, size: size, path: path)
    try checksum.withUnsafeBytes { try write($0) }
    return checksum
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    try Disk.write(bytes, to: descriptor, path: path)
  }
}
