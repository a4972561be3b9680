internal import Glibc
internal import State
internal import System
internal import WorkTree

/// The lock that lets one process at a time change a notebook: flock(2) on `.git/notes/lock`. The kernel
/// releases it with the process, so it is never stale. The file's one byte says whether a run is in progress
/// (`1`) or ended (`0`). After a `1`, the next run looks for leftovers of a killed run. The file's modification
/// time is the start of the run. Byte and time stay as a killed run left them until `dealtWithInterruption`. So
/// even after several killed runs, the next run knows since when there may be leftovers.
final class WriterLock {
  private let lock: FileLock

  /// The time at which the previous run began, if it may not have ended properly: it was killed, or the machine
  /// has restarted since.
  let interrupted: timespec?

  /// How long a command waits for another to finish, in seconds.
  static let patience = 30.0

  /// - Throws: `NotebookError.busy` if the lock is not free in time.
  init(stateFolder: StateFolder, folder: String) throws {
    let path = stateFolder[.lock]
    let deadline = Instant.after(seconds: Self.patience)
    var taken = try Disk.lock(path, until: deadline)
    // If something was forgotten in the meantime, the path has another file now.
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

  /// Records that the leftovers of the killed run are removed: any found later are from this run.
  func dealtWithInterruption() { mark("1") }

  /// Records that this run has ended properly. Call it last.
  func end() { mark("0") }

  /// Overwriting the existing byte works even on a full disk. If it fails anyway, the next run looks
  /// for leftovers in vain.
  private func mark(_ state: Unicode.Scalar) {
    var byte = UInt8(ascii: state)
    pwrite(lock.descriptor, &byte, 1, 0)
  }
}
