internal import Glibc

/// The lock that lets one process at a time change a notebook: flock(2) on `.git/notes/lock`. The
/// kernel drops it with the process, so it is never stale.
final class WriterLock {
  private let descriptor: Int32

  /// How long a command waits for another to finish before it gives up, in milliseconds.
  static let patience = 30_000

  /// Takes the lock, waiting for whoever has it.
  ///
  /// - Throws: `NotebookError.busy` when it is not to be had in time.
  init(stateFolder: String, folder: String, patience: Int = WriterLock.patience) throws {
    let path = stateFolder + "/lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw NotebookError.file(call: "open", path: path, errno: errno)
    }
    // flock has no time-out: ask again at growing intervals, which costs nothing when it is free.
    var pause: useconds_t = 1_000
    var waited = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let failure = errno
        close(descriptor)
        throw NotebookError.file(call: "flock", path: path, errno: failure)
      }
      guard waited < patience else {
        close(descriptor)
        throw NotebookError.busy(folder: folder)
      }
      usleep(pause)
      waited += Int(pause) / 1_000
      pause = min(pause * 2, 50_000)
    }
  }

  deinit { close(descriptor) }
}

extension Notebook {
  /// Runs `body` while no other process or instance can change the notebook, after finishing what
  /// an interrupted run left.
  func withWriterLock<Result>(_ body: () throws -> Result) throws -> Result {
    let lock = try WriterLock(stateFolder: stateFolder, folder: folder)
    defer { withExtendedLifetime(lock) {} }
    try finishInterrupted()
    return try body()
  }
}
