internal import Glibc
internal import System
internal import WorkTree

/// The lock that lets one process at a time change a notebook: flock(2) on `.git/notes/lock`. The
/// kernel drops it with the process, so it is never stale.
///
/// The file's one byte says whether a run is under way (`1`) or came to its end (`0`), which tells
/// the next one whether to look for what a killed run left. Its time is that of the run's start.
final class WriterLock {
  private let descriptor: Int32

  /// When the run before this one began, if it may not have come to its end: it was killed, or the
  /// machine was started since.
  let interrupted: timespec?

  /// How long a command waits for another to finish before it gives up, in milliseconds.
  static let patience = 30_000

  /// Takes the lock, waiting for whoever has it.
  ///
  /// - Throws: `NotebookError.busy` when it is not to be had in time.
  init(stateFolder: String, folder: String, patience: Int = WriterLock.patience) throws {
    let path = stateFolder + "/lock"
    descriptor = try Disk.open(path, O_RDWR | O_CREAT, mode: 0o600)
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
    var state: UInt8 = 0
    var status = stat()
    let isEnded =
      pread(descriptor, &state, 1, 0) == 1 && state == UInt8(ascii: "0")
      && fstat(descriptor, &status) == 0 && !(status.st_mtim < WallClock.startOfMachine)
    if !isEnded { fstat(descriptor, &status) }
    interrupted = isEnded ? nil : status.st_mtim
    mark("1")
  }

  /// Says that the run came to its end.
  func end() { mark("0") }

  /// A full disk has room for the byte that is there already; where it has not, or the file can't be
  /// written, the next run looks for leftovers in vain.
  private func mark(_ state: Unicode.Scalar) {
    var byte = UInt8(ascii: state)
    pwrite(descriptor, &byte, 1, 0)
  }

  deinit { close(descriptor) }
}
