/// The limits of a pack: the numbers of notes-protocol(7).
public struct PackLimits: Sendable, Equatable {
  /// Objects in a pack.
  public var objects = 5_000_000
  /// Bytes of a pack in transfer.
  public var packBytes = 4 << 30
  /// Bytes of one text or tag, unpacked.
  public var objectBytes = 64 << 20
  /// Bytes of one commit.
  public var commitBytes = 1 << 20
  /// Bytes of one tree.
  public var treeBytes = 32 << 20
  /// Total bytes that a receiver may unpack from a pack, counting repeated unpacking.
  public var unpackedBytes = 128 << 30
  /// The amount of `unpackedBytes` that every pack may use; each of its own bytes adds more.
  public var unpackedBytesOfAny = 1 << 30
  package var unpackedBytesPerByte = 8
  /// The limit that replaces it for a pack with an admin's new forgetting, unless the receiver's own packs allow
  /// more.
  package var unpackedBytesOfForgetting = 6 << 30
  /// The bytes that such a pack may use instead, for each byte that the receiver's own packs unpack to: the
  /// rewritten history is as large as its own, and a tree is unpacked on arrival and by the check.
  package var unpackedBytesPerOwn = 4
  /// The longest chain of deltas. git's own packs have at most 50 (pack.depth).
  public var chain = 512
  /// Bytes of objects in memory while deltas are applied to them.
  public var keptBytes = 128 << 20
  /// Parents of a commit.
  public var parents = 256
  /// Parents of all commits together: an amount for every pack, and more for each commit.
  public var allParents = 10_000
  package var parentsPerCommit = 32
  /// The depth of nested folders.
  public var depth = 64
  /// Bytes of a path.
  public var pathBytes = 4096
  /// Files and folders in one version: a million notes, and their folders.
  public var files = 2_000_000

  /// Whether this device made the pack.
  private(set) var isOwn = false

  /// The limits of notes-protocol(7).
  public static let standard = PackLimits()

  /// The limits for a pack that the user allowed to be costly.
  public static let large = {
    var limits = PackLimits()
    (limits.unpackedBytesOfAny, limits.unpackedBytesPerByte) = (16 << 30, 1 << 16)
    limits.allParents = 10_000_000
    return limits
  }()

  package init() {}

  /// The limits for a pack made here: it may be as large as the repository.
  static let own = {
    var limits = PackLimits()
    limits.isOwn = true
    limits.objects = Int(Int32.max)
    (limits.packBytes, limits.allParents, limits.parentsPerCommit) = (.max, .max, 0)
    (limits.objectBytes, limits.commitBytes) = (Int(Int32.max), Int(Int32.max))
    limits.treeBytes = Int(Int32.max)
    (limits.unpackedBytes, limits.unpackedBytesOfAny) = (.max, .max)
    return limits
  }()

  /// Throws if an object exceeds the limit of all devices: every object stored here is sent to
  /// others.
  func check(_ kind: ObjectKind, bytes: Int) throws {
    let limit = self.bytes(of: kind)
    if bytes > limit { throw GitError.objectTooLarge(kind, bytes: bytes, limit: limit) }
  }

  func check(unpacked: Int, ofPack bytes: Int) throws {
    guard !allows(unpacked: unpacked, ofPack: bytes) else { return }
    throw PackError.costly("bytes that a pack unpacks to", limit: unpackedBytes(ofPack: bytes))
  }

  func allows(unpacked: Int, ofPack bytes: Int) -> Bool { unpacked <= unpackedBytes(ofPack: bytes) }

  private func unpackedBytes(ofPack bytes: Int) -> Int {
    let more = bytes.multipliedReportingOverflow(by: unpackedBytesPerByte)
    let room = max(unpackedBytes - unpackedBytesOfAny, 0)
    return more.overflow || more.partialValue > room
      ? unpackedBytes : min(unpackedBytesOfAny + more.partialValue, unpackedBytes)
  }

  /// The size limit for objects of any kind. A delta's kind is known only after its base; then its result is
  /// checked against the limit for that kind.
  var largestObject: Int { max(commitBytes, treeBytes, objectBytes) }

  /// The ID of a pack's object. For a pack from elsewhere, libgit2 computes it, which refuses the data of known attacks on
  /// SHA-1.
  func id(of kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    isOwn ? try .hashing(kind, content) : try Libgit2.shared.get().id(of: kind, content)
  }

  func bytes(of kind: ObjectKind) -> Int {
    switch kind {
    case .commit: commitBytes
    case .tree: treeBytes
    case .blob, .tag: objectBytes
    }
  }
}
