internal import Glibc
internal import State
internal import Synchronization
internal import System

/// `.git/notes/incoming/PID-RANDOM/` with `lock`, which its process keeps locked, and
/// `objects/pack/`. It is removed with this object, or, if the process was killed, by the next
/// quarantine.
final class QuarantineFolder: Sendable {
  let path: String
  private let lock: FileLock
  private let kept = Mutex<[KeptPack]>([])

  var objects: String { path + "/objects" }
  var packs: String { path + "/objects/pack" }

  static func root(of repository: Repository) -> String { repository.stateFolder[.incoming] }

  init(for repository: Repository) throws {
    let root = Self.root(of: repository)
    try Disk.makeFolder(repository.stateFolder.path, mode: 0o700)
    try Disk.makeFolder(root, mode: 0o700)
    let path = root + "/\(getpid())-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // Other processes remove folders that are not locked, so they must wait until this one is.
    let lock = try Self.withLock(on: root) {
      try Disk.makeFolder(path, mode: 0o700)
      guard let lock = try Disk.lock(path + "/lock") else {
        throw GitError.system(call: "flock", path: path + "/lock", errno: EWOULDBLOCK)
      }
      return lock
    }
    self.path = path
    self.lock = lock
    try Disk.makeFolder(objects, mode: 0o700)
    try Disk.makeFolder(packs, mode: 0o700)
  }

  deinit { remove() }

  /// Removes the folder and its content. Packs from this quarantine lose their marks.
  func remove() {
    for pack in kept.withLock({ $0 }) { pack.remove(for: path) }
    Disk.removeTree(path)
  }

  /// Marks a pack that will be moved into the repository. git does not remove the pack as long as this folder exists.
  func keep(_ pack: String) throws {
    let pack = KeptPack(pack: pack)
    if try pack.put(for: path) { kept.withLock { $0.append(pack) } }
  }

  static func removeLeftovers(in repository: Repository) {
    let root = root(of: repository)
    // A leftover is removed the next time.
    try? withLock(on: root) {
      for name in Disk.namesIfAny(in: root) {
        let folder = root + "/" + name
        if !Disk.isLocked(folder + "/lock") { Disk.removeTree(folder) }
      }
    }
  }

  /// The longest wait, in seconds, for other processes that make or remove folders.
  private static let patience = 60.0

  /// Runs `body` while no other thread or process makes or removes folders there.
  private static func withLock<Result>(
    on root: String, _ body: () throws -> Result
  ) throws -> Result {
    guard let lock = try Disk.lock(root, O_RDONLY | O_DIRECTORY, until: .now + patience) else {
      throw GitError.system(call: "flock", path: root, errno: EWOULDBLOCK)
    }
    return try withExtendedLifetime(lock) { try body() }
  }
}
