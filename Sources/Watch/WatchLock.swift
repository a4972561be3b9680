internal import Glibc
public import State
internal import System

/// Lets one process at a time watch a notebook: flock(2) on `.git/notes/watch`, which contains its
/// process ID. The kernel releases the lock with the process.
public final class WatchLock: Sendable {
  private let lock: FileLock

  /// Acquires the lock. Throws `WatchError.watchedAlready` if another process has it.
  public init(stateFolder: StateFolder, folder: String) throws {
    let path = stateFolder[.watch]
    guard let lock = try Disk.lock(path) else {
      let holder = Disk.contentIfAny(path, limit: 20) ?? []
      let number = String(decoding: holder.prefix { $0 != 10 }, as: UTF8.self)
      throw WatchError.watchedAlready(folder, process: Int(number) ?? 0)
    }
    self.lock = lock
    ftruncate(lock.descriptor, 0)
    let text = Array("\(getpid())\n".utf8)
    pwrite(lock.descriptor, text, text.count, 0)
  }
}
