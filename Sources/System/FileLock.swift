public import Glibc

/// A locked file: flock(2). The kernel unlocks it when the process ends, so that no lock is ever stale.
public final class FileLock: Sendable {
  /// The open file.
  public let descriptor: Int32

  fileprivate init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // A program that is being started has a copy of the descriptor for a moment, which would keep a file
    // locked that is only closed.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

extension FileSystem {
  /// Locks a file, and makes it if there is none; nil if another process has the lock.
  ///
  /// - Parameters:
  ///   - flags: how it is opened.
  ///   - deadline: how long to wait for another process's lock; nil to return at once.
  public static func lock(
    _ path: String, _ flags: Int32 = O_RDWR | O_CREAT | O_NOFOLLOW, mode: mode_t = 0o600,
    until deadline: Instant? = nil
  ) throws(Failure) -> FileLock? {
    let lock = FileLock(takingOwnership: try open(path, flags, mode: mode))
    // flock has no time-out: asking again at growing intervals costs nothing where it is free.
    var pause: useconds_t = 1_000
    while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw .system(call: "flock", path: path, errno: errno)
      }
      guard let deadline, !deadline.hasPassed else { return nil }
      usleep(pause)
      pause = min(pause * 2, 50_000)
    }
    return lock
  }

  /// Whether a process has locked the file, or may have; false if there is no file.
  public static func isLocked(_ path: String) -> Bool {
    let descriptor = Counted.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return errno != ENOENT && errno != ENOTDIR }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }
}
