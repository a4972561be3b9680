internal import CLinux
internal import Glibc
internal import System

/// The files that programs of this user have open, from /proc: proc_pid_fd(5).
enum OpenFiles {
  /// The limit of descriptors to check, of all programs: some milliseconds' work.
  private static let most = 20_000

  /// The files among `files` that another program has open.
  ///
  /// - Parameter files: their inode numbers, each with the time at which the file had left the folder, in
  ///   nanoseconds since 1970. A file system may give the number to another file at once, and the time is a
  ///   little late. So a file that has a name counts only if it was made at least a second before that time.
  static func open(among files: [UInt64: Int64], on device: dev_t) -> Set<UInt64> {
    var found: Set<UInt64> = []
    var rest = most
    let user = geteuid()
    for name in Disk.namesIfAny(in: "/proc") {
      guard let process = Int32(name), process != getpid(), rest > 0, found.count < files.count
      else { continue }
      var status = stat()
      // Only processes of the same user can be checked. Root could check all, but other users'
      // edits are not root's.
      guard Counted.stat("/proc/\(process)", &status) == 0, status.st_uid == user else { continue }
      for descriptor in Disk.namesIfAny(in: "/proc/\(process)/fd") {
        rest -= 1
        let path = "/proc/\(process)/fd/\(descriptor)"
        guard Counted.stat(path, &status) == 0, status.st_dev == device,
          let left = files[UInt64(status.st_ino)],
          notes_birth_time(path, 1) <= left - (status.st_nlink == 0 ? 0 : 1_000_000_000)
        else { continue }
        found.insert(UInt64(status.st_ino))
      }
    }
    return found
  }
}
