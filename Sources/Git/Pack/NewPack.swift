internal import CLibgit2
internal import Glibc
internal import Synchronization
internal import System

/// A pack of new objects on its way into a repository: cheaper than a file an object from about a
/// hundred on, and one sync for all of them.
///
/// Threads fill `PackPiece`s and append them. Nothing counts before `finish`; a pack that is not
/// finished leaves at most files that `removeLeftovers` takes away.
public final class NewPack: Sendable {
  private let folder: String
  private let stem: String
  private let descriptor: Int32
  private let state = Mutex(State())

  private struct State {
    var known: Set<ObjectID> = []
    var objects: [PackedObject] = []
    var size = 12
    var isFinished = false
  }

  private static let prefix = "tmp_notes_"
  // A file just made may not be locked yet, and a pack comes before its index.
  private static let youngestLeftover = 3_600

  /// Begins a pack in the repository's folder of packs.
  ///
  /// - Parameter count: about how many files it will have.
  public init(in repository: Repository, expecting count: Int) throws {
    folder = repository.gitFolder + "/objects/pack"
    try Disk.makeFolder(folder, mode: 0o777)
    Self.removeLeftovers(in: repository)
    stem =
      folder + "/" + Self.prefix + "\(getpid())_"
      + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    descriptor = try Disk.open(stem + ".pack", O_RDWR | O_CREAT | O_EXCL, mode: 0o444)
    // Says that its process lives; the kernel takes it back from one that was killed.
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    try Disk.write(PackFormat.header(objectCount: 0), to: descriptor, path: stem + ".pack")
    state.withLock { state in
      // With their folders, mostly.
      state.known.reserveCapacity(count + count / 8)
      state.objects.reserveCapacity(count + count / 8)
    }
  }

  deinit {
    if !state.withLock({ $0.isFinished }) {
      unlink(stem + ".idx")
      unlink(stem + ".pack")
    }
    close(descriptor)
  }

  /// Whether the caller is the first to bring this object.
  func claim(_ id: ObjectID) -> Bool { state.withLock { $0.known.insert(id).inserted } }

  /// Writes the objects of a piece, which is empty afterwards.
  public func append(_ piece: inout PackPiece) throws {
    guard !piece.objects.isEmpty else { return }
    try state.withLock { state in
      try Disk.write(piece.bytes, to: descriptor, path: stem + ".pack")
      for object in piece.objects {
        state.objects.append(
          PackedObject(id: object.id, crc: object.crc, offset: state.size + object.offset))
      }
      state.size += piece.bytes.count
    }
    piece.clear()
  }

  /// Makes the objects part of the repository, durably: pack, index, then their names.
  public func finish() throws {
    try state.withLock { state in
      guard !state.objects.isEmpty else { return }
      let path = stem + ".pack"
      let header = PackFormat.header(objectCount: state.objects.count)
      guard pwrite(descriptor, header, header.count, 0) == header.count else {
        throw GitError.system(call: "write", path: path, errno: errno)
      }
      // The number of objects stands at the beginning and is known last: all is read again.
      let checksum = try PackChecksum.ofFile(descriptor, size: state.size, path: path)
      try Disk.write(checksum, to: descriptor, path: path)
      state.objects.sort { $0.id < $1.id }
      let index = try Disk.open(stem + ".idx", O_WRONLY | O_CREAT | O_EXCL, mode: 0o444)
      defer { close(index) }
      try Disk.write(
        PackFormat.index(of: state.objects, checksum: checksum), to: index, path: stem + ".idx")
      for (file, suffix) in [(descriptor, ".pack"), (index, ".idx")] {
        try Disk.sync(file, path: stem + suffix)
      }
      // A pack counts from the moment its index is there.
      let name = folder + "/pack-" + String(hexadecimal: checksum)
      for suffix in [".pack", ".idx"] {
        try Disk.rename(stem + suffix, to: name + suffix)
        try Disk.sync(folder: folder)
      }
      state.isFinished = true
    }
  }

  /// Removes what processes left behind that were killed: unfinished packs, and packs that never got
  /// their index.
  static func removeLeftovers(in repository: Repository) {
    let folder = repository.gitFolder + "/objects/pack"
    let names = Set(Disk.namesIfAny(in: folder))
    for name in names {
      let path = folder + "/" + name
      if name.hasPrefix(prefix) {
        if name.hasSuffix(".idx"), !names.contains(name.dropLast(4) + ".pack") { unlink(path) }
        guard name.hasSuffix(".pack") else { continue }
        if Disk.isLocked(path) { continue }
        unlink(path.dropLast(5) + ".idx")
        unlink(path)
      } else if name.hasPrefix("pack-"), name.hasSuffix(".pack"),
        !names.contains(name.dropLast(5) + ".idx")
      {
        var status = stat()
        if lstat(path, &status) == 0, WallClock.age(of: status) > youngestLeftover {
          unlink(path)
        }
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

  // What is written with one call.
  private static let fullSize = 64 * 1024

  /// An empty piece of `pack`.
  public init(of pack: NewPack) throws {
    self.pack = pack
    deflater = try Deflater(level: Deflater.fastest)
    zlib = try Zlib.shared.get()
    bytes.reserveCapacity(Self.fullSize * 2)
  }

  /// Whether it is time to append it to the pack.
  public var isFull: Bool { bytes.count >= Self.fullSize }

  /// Adds an object unless the pack has it, or its ID is `known`, and returns its ID.
  public mutating func add(_ kind: ObjectKind, _ content: [UInt8], known: ObjectID? = nil) throws
    -> ObjectID
  {
    let id = try ObjectID.hashing(kind, content)
    guard id != known, pack.claim(id) else { return id }
    let start = bytes.count
    PackFormat.appendHeader(type: UInt8(kind.rawValue), size: content.count, to: &bytes)
    try deflater.compress(content, into: &bytes)
    let crc = bytes.withUnsafeBytes { bytes in
      zlib.crc32(of: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
    objects.append(PackedObject(id: id, crc: crc, offset: start))
    return id
  }

  fileprivate mutating func clear() {
    bytes.removeAll(keepingCapacity: bytes.count < 4 * Self.fullSize)
    objects.removeAll(keepingCapacity: true)
  }
}
