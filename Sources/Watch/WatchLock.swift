internal import Glibc

/// What lets one process at a time watch a notebook: flock(2) on `.git/notes/watch`, which holds its
/// process number. The kernel drops it with the process.
public final class WatchLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// - Throws: `WatchError.watchedAlready` when another process has it.
  public init(stateFolder: String, folder: String) throws {
    let path = stateFolder + "/watch"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw WatchError.system(call: "open", path: path, errno: errno)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let process = Self.process(descriptor)
      close(descriptor)
      throw WatchError.watchedAlready(folder, process: process)
    }
    ftruncate(descriptor, 0)
    let text = Array("\(getpid())\n".utf8)
    pwrite(descriptor, text, text.count, 0)
  }

  deinit {
    // A program that is being started has a copy of the descriptor for a moment, which keeps a lock that
    // is not let go of.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func process(_ descriptor: Int32) -> Int {
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Int(String(decoding: bytes[..<max(count, 0)].prefix { $0 != 10 }, as: UTF8.self)) ?? 0
  }
}
