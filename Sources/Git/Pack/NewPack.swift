internal import Synchronization
internal import System

/// A pack of new objects, cheaper than separate files from about a hundred objects on. Threads fill
/// `PackPiece`s and append them. The pack is in quarantine, and its objects are not in the
/// repository, until `finish`.
public final class NewPack: Sendable {
  private let packFolder: String
  private let quarantine: QuarantineFolder
  private let file: PackFile
  private let state = Mutex(State())

  private struct State {
    var known: Set<ObjectID> = []
    var objects: [PackedObject] = []
    var size = PackFormat.headerBytes
  }

  /// Begins a pack.
  public init(in repository: Repository) throws {
    packFolder = repository.packFolder
    try Disk.makeFolder(packFolder, mode: 0o777)
    repository.removeQuarantineLeftovers()
    quarantine = try QuarantineFolder(for: repository)
    file = try PackFile(quarantine.packs + "/new.pack")
    try file.write(PackFormat.header(objectCount: 0))
  }

  /// Claims an object for the pack; returns false if the pack already has it or another thread has claimed it.
  func claim(_ id: ObjectID) -> Bool { state.withLock { $0.known.insert(id).inserted } }

  /// Writes the objects of a piece and empties it.
  public func append(_ piece: inout PackPiece) throws {
    guard !piece.objects.isEmpty else { return }
    try state.withLock { state in
      try file.write(piece.bytes)
      for object in piece.objects {
        state.objects.append(
          PackedObject(id: object.id, crc: object.crc, offset: state.size + object.offset))
      }
      state.size += piece.bytes.count
    }
    piece.clear()
  }

  /// Adds the objects to the repository, durably: the pack, then its index, then their names. git does not
  /// repack them before this repository moves a reference.
  public func finish(in repository: Repository) throws {
    try state.withLock { state in
      guard !state.objects.isEmpty else { return }
      let checksum = try file.seal(objectCount: state.objects.count, size: state.size)
      try Disk.sync(file.descriptor, path: file.path)
      state.objects.sort { $0.id < $1.id }
      let index = quarantine.packs + "/new.idx"
      try Disk.create(index, PackFormat.index(of: state.objects, checksum: checksum), mode: 0o444)
      // A pack is part of the repository as soon as its index exists.
      let name = packFolder + "/pack-" + String(hexadecimal: checksum)
      try quarantine.keep(name)
      repository.unreferenced.append(quarantine)
      for (path, suffix) in [(file.path, ".pack"), (index, ".idx")] {
        try Disk.rename(path, to: name + suffix)
        try Disk.sync(folder: packFolder)
      }
    }
  }
}

/// Some objects of a new pack, made by one thread.
public struct PackPiece {
  private let pack: NewPack
  private let deflater: Deflater
  private let zlib: Zlib
  fileprivate var bytes: [UInt8] = []
  fileprivate var objects: [PackedObject] = []

  // The number of bytes to write in one call.
  private static let fullSize = 64 * 1024

  /// An empty piece of `pack`.
  public init(of pack: NewPack) throws {
    self.pack = pack
    deflater = try Deflater(level: Deflater.fastest)
    zlib = try Zlib.shared.get()
    bytes.reserveCapacity(Self.fullSize * 2)
  }

  /// Whether the piece is full and should be appended to the pack.
  public var isFull: Bool { bytes.count >= Self.fullSize }

  /// Adds an object, unless the pack has it or its ID is in `known`, and returns its ID.
  public mutating func add(_ kind: ObjectKind, _ content: [UInt8], known: ObjectID? = nil) throws
    -> ObjectID
  {
    try PackLimits.standard.check(kind, bytes: content.count)
    let id = try ObjectID.hashing(kind, content)
    if id != known { try add(id, kind, content, deltaAgainst: nil) }
    return id
  }

  /// Adds an object with this ID, unless the pack has it.
  ///
  /// - Parameter base: if `content` is a delta, the object of the pack that it changes; nil for a whole object.
  mutating func add(
    _ id: ObjectID, _ kind: ObjectKind, _ content: [UInt8], deltaAgainst base: ObjectID?
  ) throws {
    guard pack.claim(id) else { return }
    let start = bytes.count
    PackFormat.appendHeader(
      type: base == nil ? UInt8(kind.rawValue) : PackFormat.deltaType, size: content.count,
      to: &bytes)
    base?.appendBytes(to: &bytes)
    try deflater.compress(content, into: &bytes)
    let crc = bytes.withUnsafeBytes { bytes in
      zlib.crc32(of: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
    objects.append(PackedObject(id: id, crc: crc, offset: start))
  }

  fileprivate mutating func clear() {
    bytes.removeAll(keepingCapacity: bytes.count < 4 * Self.fullSize)
    objects.removeAll(keepingCapacity: true)
  }
}
