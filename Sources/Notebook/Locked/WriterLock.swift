internal import Glibc
internal import State
internal import System
internal import WorkTree

/// The lock that lets one process at a time change a notebook: flock(2) on `.git/notes/lock`. The
/// kernel drops it with the process, so it is never stale.
/// The file's one byte says whether a run is under way (`1`) or came to its end (`0`), which tells
/// the next one whether to look for what a killed run left. Its time is that of the run's start. Both stay as a
/// killed run left them until `dealtWithInterruption`: however many runs are killed before, the next one knows
/// since when there may be leftovers.
final class WriterLock {
  private let lock: FileLock

  /// When the run before this one began, if it may not have come to its end: it was killed, or the
  /// machine was started since.
  let interrupted: timespec?

  /// How long a command waits for another to finish before it gives up, in seconds.
  static let patience = 30.0

  /// - Throws: `NotebookError.busy` when it is not to be had in time.
  init(stateFolder: StateFolder, folder: String) throws {
    let path = stateFolder[.lock]
    let deadline = Instant.after(seconds: Self.patience)
    var taken = try Disk.lock(path, until: deadline)
    // If something was forgotten meanwhile, another file stands there.
    while let lock = taken, !Self.isThere(lock, at: path) {
      taken = try Disk.lock(path, until: deadline)
    }
    guard let lock = taken else { throw NotebookError.busy(folder: folder) }
    self.lock = lock
    var state: UInt8 = 0
    var status = stat()
    let isEnded =
      pread(lock.descriptor, &state, 1, 0) == 1 && state == UInt8(ascii: "0")
      && Counted.fstat(lock.descriptor, &status) == 0
      && !(status.st_mtim < WallClock.startOfMachine)
    if !isEnded { Counted.fstat(lock.descriptor, &status) }
    interrupted = isEnded ? nil : status.st_mtim
    if isEnded { mark("1") }
  }

  private static func isThere(_ lock: FileLock, at path: String) -> Bool {
    var (held, named) = (stat(), stat())
    return Counted.fstat(lock.descriptor, &held) == 0 && Counted.stat(path, &named) == 0
      && held.st_ino == named.st_ino && held.st_dev == named.st_dev
  }

  /// The leftovers of the killed run are gone: from now on those that are found are this run's own.
  func dealtWithInterruption() { mark("1") }

  /// Nothing is left of this run; it is the last thing that it does.
  func end() { mark("0") }

  /// A full disk has room for the byte that is there already; where it has not, or the file can't be
  /// written, the next run looks for leftovers in vain.
  private func mark(_ state: Unicode.Scalar) {
    var byte = UInt8(ascii: state)
    pwrite(lock.descriptor, &byte, 1, 0)
  }
}
