internal import Glibc
internal import System

extension Repository {
  /// A quarantine for a pack from another device.
  ///
  /// - Parameter grant: may raise the limit of unpacked bytes; nil if nothing may.
  public func quarantine(
    limits: PackLimits = .standard, _ grant: UnpackingGrant? = nil
  ) throws -> Quarantine {
    try Quarantine(repository: self, limits: limits, grant)
  }

  /// Removes leftovers of killed processes: quarantine folders, and packs without an index.
  public func removeQuarantineLeftovers() {
    QuarantineFolder.removeLeftovers(in: self)
    KeptPack.removeLeftovers(in: self)
    let names = Set(Disk.namesIfAny(in: packFolder))
    for name in names where name.hasPrefix("pack-") && name.hasSuffix(".pack") {
      let path = packFolder + "/" + name
      var status = stat()
      if !names.contains(name.dropLast(5) + ".idx"), Counted.lstat(path, &status) == 0,
        WallClock.age(of: status) > Self.youngestLeftover
      {
        unlink(path)
      }
    }
  }

  // The age of a leftover pack without an index, in seconds: a pack is written before its index.
  private static var youngestLeftover: Int { 3_600 }
}

/// Receives a pack from another device and keeps it separate from the repository until it is checked: only
/// `join` makes it a part of the repository. git's gc does not remove a joined pack while this instance exists;
/// before that ends, a reference must lead to the pack. An instance belongs to the repository's thread.
public final class Quarantine {
  private let repository: Repository
  private let limits: PackLimits
  /// The most disk space, in bytes, that the pack may use: half of the free space when it began to
  /// arrive.
  private let room: Int
  private var bytes = 0
  private let folder: QuarantineFolder
  private var pack: ReceivedPack?
  private var isJoined = false
  /// The pack after it was received completely.
  private var received: ReceivedObjects?
  /// Versions whose files were read by `file(_:of:)`.
  private var carriers: Set<ObjectID> = []
  /// The merge commits among the commits that `join` counted.
  public private(set) var newMerges: [ObjectID] = []

  /// The number of objects that the pack's header states.
  public private(set) var objectCount = 0
  /// The total size of the objects received, in bytes, before compression.
  public private(set) var contentBytes = 0

  init(repository: Repository, limits: PackLimits, _ grant: UnpackingGrant?) throws {
    self.repository = repository
    self.limits = limits
    repository.removeQuarantineLeftovers()
    folder = try QuarantineFolder(for: repository)
    room = try Disk.freeBytes(at: folder.path) / 2
    pack = try ReceivedPack(in: folder.packs, for: repository, limits: limits, grant)
  }

  /// Adds the next bytes of the pack. If they exceed a limit, the quarantine is emptied.
  public func append(_ bytes: [UInt8]) throws {
    guard let pack, !isJoined else { throw PackError.finished }
    do {
      self.bytes += bytes.count
      guard self.bytes <= room else {
        throw PackError.diskNearlyFull(room: room)
      }
      try bytes.withUnsafeBytes { try pack.append($0) }
      objectCount = pack.objectCount
      contentBytes = pack.contentBytes
    } catch {
      discard()
      throw error
    }
  }

  /// Deletes the quarantine's files.
  public func discard() {
    forget()
    folder.remove()
  }

  /// Drops everything about the pack, but not its folder.
  private func forget() {
    pack = nil
    received = nil
  }

  /// The content of a file at the top of a version, in the pack or in the repository; nil if the version has no such
  /// file. The pack must have arrived completely; its objects are not checked yet, and a malformed pack is discarded.
  /// `join` does not count a version that only carries such a file.
  public func file(_ name: TreePath, of version: ObjectID) throws -> [UInt8]? {
    let pack = try objectCount == 0 ? nil : finish()
    func content(of id: ObjectID) throws -> [UInt8] {
      try pack?.content(of: id) ?? repository.object(id).data
    }
    carriers.insert(version)
    let commit = try CommitHeaders(parsing: content(of: version), id: version)
    let tree = try Tree(parsing: content(of: commit.tree), id: commit.tree)
    guard let entry = tree.entries.first(where: { $0.name == name }), entry.mode.isFile
    else { return nil }
    return try content(of: entry.id)
  }

  /// Finishes the pack, which must be complete.
  private func finish() throws -> ReceivedObjects {
    if let received { return received }
    guard let pack else { throw PackError.finished }
    do {
      let whole = try pack.finish()
      received = whole
      return whole
    } catch {
      discard()
      throw error
    }
  }

  /// Checks the pack, moves it into the repository, durably, and returns the number of new commits. If this
  /// throws, the repository is unchanged and the quarantine is empty.
  ///
  /// - Parameters:
  ///   - heads: commits that must exist afterwards.
  ///   - approve: called with a function that reads a checked commit from the pack or the repository. If it
  ///     throws, the pack is refused.
  @discardableResult public func join(
    promised heads: [ObjectID],
    approve: (_ commit: (ObjectID) throws -> [UInt8]) throws -> Void = { _ in }
  ) throws -> Int {
    guard let arrived = pack, !isJoined else { throw PackError.finished }
    isJoined = true
    do {
      let count = try join(arrived, promised: heads, approve: approve)
      // The objects will be read again from the repository. If removing the folder fails, it stays as an empty folder.
      forget()
      return count
    } catch {
      discard()
      throw error
    }
  }

  private func join(
    _ arrived: ReceivedPack, promised heads: [ObjectID],
    approve: (_ commit: (ObjectID) throws -> [UInt8]) throws -> Void
  ) throws -> Int {
    guard arrived.isComplete else { throw PackError.malformed("it ends early") }
    // An empty pack has no index, so there is nothing to move.
    if objectCount == 0 {
      for head in heads where try !repository.contains(head) { throw PackError.headMissing(head) }
      try approve { try repository.object($0).data }
      return 0
    }
    let pack = try finish()
    var check = QuarantineCheck(of: pack, for: repository, limits: limits)
    let new = try check.run(promised: heads)
    try approve { try pack.content(of: $0) }
    try repository.adopt(pack, from: folder)
    check.extents.remember()
    newMerges = new.filter { check.merges.contains($0) && !carriers.contains($0) }
    return new.count { !carriers.contains($0) }
  }
}

extension Repository {
  /// Moves a received pack into the repository, durably, and returns its path there, without `.pack`. git does
  /// not remove the pack while its quarantine exists.
  @discardableResult func adopt(
    _ pack: ReceivedObjects, from folder: QuarantineFolder
  ) throws -> String {
    try Disk.makeFolder(packFolder, mode: 0o777)
    let path = packFolder + "/" + (pack.path.split(separator: "/").last.map(String.init) ?? "")
    try folder.keep(path)
    for suffix in [".pack", ".idx"] { try Disk.sync(file: pack.path + suffix) }
    // A pack is part of the repository as soon as its index exists. The new names become durable
    // together, in the order they were made.
    for suffix in [".pack", ".idx"] { try Disk.rename(pack.path + suffix, to: path + suffix) }
    try Disk.sync(folder: packFolder)
    return path
  }
}
