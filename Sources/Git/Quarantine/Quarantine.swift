internal import Glibc
internal import System

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
  private var parts: Parts?
  private var isJoined = false

  private struct Parts {
    let folder: QuarantineFolder
    let pack: ReceivedPack
  }

  /// How many objects the pack says it holds.
  public private(set) var objectCount = 0

  init(repository: Repository, limits: PackLimits) throws {
    self.repository = repository
    self.limits = limits
    repository.removeQuarantineLeftovers()
    let folder = try QuarantineFolder(for: repository)
    let pack = try ReceivedPack(in: folder.packs, for: repository, limits: limits)
    parts = Parts(folder: folder, pack: pack)
  }

  /// Takes the next bytes of the pack.
  ///
  /// - Throws: `PackError` as soon as the bytes break a limit; the quarantine is empty then.
  public func append(_ bytes: [UInt8]) throws {
    guard let parts, !isJoined else { throw PackError.finished }
    do {
      try bytes.withUnsafeBytes { try parts.pack.append($0) }
      objectCount = parts.pack.objectCount
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
    guard parts.pack.isComplete else { throw PackError.malformed("it ends early") }
    // An empty pack makes no index.
    if objectCount == 0 {
      for head in heads where try !repository.contains(head) { throw PackError.headMissing(head) }
      return 0
    }
    let pack = try parts.pack.finish()
    var check = QuarantineCheck(of: pack.objects, for: repository, limits: limits)
    let commits = try check.run(promised: heads)
    try repository.adopt(pack)
    isMoved = true
    return commits
  }
}

extension Repository {
  /// Moves a received pack into the repository, durably.
  ///
  /// - Returns: its path there, without `.pack`.
  @discardableResult
  func adopt(_ pack: ReceivedPack.Finished) throws -> String {
    let folder = objects.packFolder
    try Disk.makeFolder(folder, mode: 0o777)
    let path = folder + "/" + (pack.path.split(separator: "/").last.map(String.init) ?? "")
    for suffix in [".pack", ".idx"] { try Disk.sync(file: pack.path + suffix) }
    // A pack counts from the moment its index is there. The new names become durable together, in
    // the order they were made.
    for suffix in [".pack", ".idx"] {
      try Disk.rename(pack.path + suffix, to: path + suffix)
    }
    try Disk.sync(folder: folder)
    return path
  }
}
