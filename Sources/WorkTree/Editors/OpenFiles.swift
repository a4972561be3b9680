internal import Glibc
internal import System

/// The files that programs of this user have open, as /proc tells: proc_pid_fd(5).
enum OpenFiles {
  /// How many descriptors are looked at, of all programs: some milliseconds' work.
  private static let most = 20_000

  /// Those of these files of a device that another program has open.
  static func open(among files: Set<UInt64>, on device: dev_t) -> Set<UInt64> {
    var found: Set<UInt64> = []
    var rest = most
    let user = geteuid()
    for name in Disk.namesIfAny(in: "/proc") {
      guard let process = Int32(name), process != getpid(), rest > 0, found.count < files.count
      else { continue }
      var status = stat()
      // Only a user's own can be looked at, but by root, for whom others' edits are none of its own.
      guard Counted.stat("/proc/\(process)", &status) == 0, status.st_uid == user else { continue }
      for descriptor in Disk.namesIfAny(in: "/proc/\(process)/fd") {
        rest -= 1
        guard Counted.stat("/proc/\(process)/fd/\(descriptor)", &status) == 0,
          status.st_dev == device, files.contains(UInt64(status.st_ino))
        else { continue }
        found.insert(UInt64(status.st_ino))
      }
    }
    return found
  }
}
