internal import Glibc

extension Repository {
  /// A place for a pack from elsewhere to arrive in.
  public func quarantine(limits: PackLimits = .standard) throws -> Quarantine {
    try Quarantine(repository: self, limits: limits)
  }

  /// Removes what receiving processes left behind when they were killed.
  public func removeQuarantineLeftovers() {
    QuarantineFolder.removeLeftovers(in: self)
  }
}

/// Takes a pack from elsewhere, apart from the repository until it has been checked.
///
/// Whatever happens, nothing of it stays behind unless `join` returned. An instance belongs to the
/// repository's thread.
public final class Quarantine {
  private let repository: Repository
  private let limits: PackLimits
  private var inspector: PackInspector
  private var parts: Parts?
  private var isJoined = false

  private struct Parts {
    let folder: QuarantineFolder
    let database: QuarantineDatabase
    let indexer: QuarantineIndexer
  }

  /// How many objects the pack says it holds.
  public var objectCount: Int { inspector.objectCount }

  init(repository: Repository, limits: PackLimits) throws {
    self.repository = repository
    self.limits = limits
    inspector = try PackInspector(limits: limits)
    repository.removeQuarantineLeftovers()
    let folder = try QuarantineFolder(for: repository)
    let database = try QuarantineDatabase(objects: folder.objects, repository: repository)
    let indexer = try QuarantineIndexer(folder: folder.packs, database: database)
    parts = Parts(folder: folder, database: database, indexer: indexer)
  }

  /// Takes the next bytes of the pack.
  ///
  /// - Throws: `PackError` as soon as the bytes break a limit; the quarantine is empty then.
  public func append(_ bytes: [UInt8]) throws {
    guard let parts, !isJoined else { throw PackError.finished }
    do {
      try bytes.withUnsafeBytes { bytes in
        try inspector.inspect(bytes)
        try parts.indexer.append(bytes)
      }
    } catch {
      discard()
      throw error
    }
  }

  /// Removes everything.
  public func discard() { parts = nil }

  /// Checks the pack and moves it into the repository, durably. What is left of the quarantine goes
  /// with this value, so that nobody waits for it, and at once when this throws.
  ///
  /// - Parameter heads: commits that must be there then.
  /// - Returns: how many commits the pack brought.
  /// - Throws: `PackError` when the pack breaks a rule; the repository is as it was.
  @discardableResult
  public func join(promised heads: [ObjectID]) throws -> Int {
    guard let parts, !isJoined else { throw PackError.finished }
    var isMoved = false
    defer { if !isMoved { discard() } }
    isJoined = true
    guard inspector.isComplete else { throw PackError.malformed("it ends early") }
    // An empty pack makes no index.
    if inspector.objectCount == 0 {
      for head in heads where try !repository.contains(head) { throw PackError.headMissing(head) }
      return 0
    }
    let name = try parts.indexer.commit()
    let pack = parts.folder.packs + "/" + name
    let objects = try QuarantineIndex.objects(QuarantineFolder.read(pack + ".idx"))
    // A fresh database: the one the indexer was given does not know the new pack.
    let database = try QuarantineDatabase(objects: parts.folder.objects, repository: repository)
    var check = QuarantineCheck(
      objects: objects, database: database, repository: repository, limits: limits)
    let commits = try check.run(promised: heads)
    try move(pack, name: name)
    isMoved = true
    return commits
  }

  /// Moves the pack, then its index: a pack counts from the moment its index is there. libgit2 has
  /// synced both files; their new names become durable together, in the order they were made.
  private func move(_ pack: String, name: String) throws {
    let folder = repository.gitFolder + "/objects/pack"
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw GitError.system(call: "mkdir", path: folder, errno: errno)
    }
    for suffix in [".pack", ".idx"] {
      try QuarantineFolder.move(pack + suffix, to: folder + "/" + name + suffix)
    }
    try QuarantineFolder.sync(folder)
    try repository.refreshObjects()
  }
}
