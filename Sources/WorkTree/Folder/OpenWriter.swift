internal import CLinux
internal import Glibc
internal import System

/// Whether somebody's program has a file open for writing: what stands in the file may then be a part
/// of what it is about to hold.
/// Asked of the kernel by a lease (fcntl(2), F_SETLEASE), which it gives only for files that nobody
/// has open for writing. File systems without leases, and files of other users, have no such programs.
enum OpenWriter {
  static func exists(of path: String) -> Bool {
    let descriptor = Counted.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return exists(of: descriptor)
  }

  /// The same for a file that is open for reading. Programs that open it for writing wait from then
  /// on until the descriptor is closed.
  static func exists(of descriptor: Int32) -> Bool {
    notes_take_read_lease(descriptor) != 0 && errno == EAGAIN
  }

  /// Whether a file was written so lately that a program which has it open may be about to write
  /// more: not one that merely keeps it open.
  static func mayBeWriting(_ status: stat) -> Bool {
    let now = WallClock.precise
    let age =
      (now.tv_sec &- status.st_mtim.tv_sec) &* 1_000
      &+ (now.tv_nsec - status.st_mtim.tv_nsec) / 1_000_000
    return age <= patience
  }

  /// How long a program that is just writing is waited for, in milliseconds.
  static let patience = 250

  /// Waits for a millisecond, if `waited` of them are not enough; false if they are.
  static func wait(after waited: Int) -> Bool {
    guard waited < patience else { return false }
    usleep(1_000)
    return true
  }
}
