public import Glibc

/// A file locked with flock(2). The kernel unlocks it when the process ends, so a lock is never stale.
public final class FileLock: Sendable {
  /// The open file.
  public let descriptor: Int32

  fileprivate init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // A program that is being started has a copy of the descriptor for a moment, so closing alone might
    // leave the file locked.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

extension FileSystem {
  /// Locks a file, which is made if it does not exist; nil if another process has the lock.
  ///
  /// - Parameters:
  ///   - flags: the flags for open(2).
  ///   - deadline: how long to wait for another process's lock; nil to return at once.
  public static func lock(
    _ path: String, _ flags: Int32 = O_RDWR | O_CREAT | O_NOFOLLOW, mode: mode_t = 0o600,
    until deadline: Instant? = nil
  ) throws(Failure) -> FileLock? {
    let lock = FileLock(takingOwnership: try open(path, flags, mode: mode))
    // flock has no time-out, so it is tried at growing intervals.
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

  /// Whether a process has locked the file. True if that cannot be found out; false if there is no file.
  public static func isLocked(_ path: String) -> Bool {
    let descriptor = Counted.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return errno != ENOENT && errno != ENOTDIR }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }
}
