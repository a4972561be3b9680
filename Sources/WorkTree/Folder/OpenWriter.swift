internal import CLinux
internal import Glibc
internal import System

/// Whether a program has a file open for writing; then the file may contain only a part of the new text. The
/// kernel grants a lease (fcntl(2), F_SETLEASE) only for a file that no program has open for writing. The
/// answer is no on file systems without leases, and for files of other users.
enum OpenWriter {
  static func exists(of path: String) -> Bool {
    let descriptor = Counted.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return exists(of: descriptor)
  }

  /// Whether a program has this open file open for writing. From then on, programs that open it for
  /// writing wait until the descriptor is closed.
  static func exists(of descriptor: Int32) -> Bool {
    notes_take_read_lease(descriptor) != 0 && errno == EAGAIN
  }

  /// Whether a file was written so recently that a program which has it open may be about to write more. A
  /// program may also just keep a file open.
  static func mayBeWriting(_ status: stat) -> Bool {
    let now = WallClock.precise
    let age =
      (now.tv_sec &- status.st_mtim.tv_sec) &* 1_000
      &+ (now.tv_nsec - status.st_mtim.tv_nsec) / 1_000_000
    return age <= patience
  }

  /// How long to wait for a program that is still writing, in milliseconds.
  static let patience = 250

  /// Waits a millisecond; returns false, without waiting, after `patience` milliseconds.
  static func wait(after waited: Int) -> Bool {
    guard waited < patience else { return false }
    usleep(1_000)
    return true
  }
}
