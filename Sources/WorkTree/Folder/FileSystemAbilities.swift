internal import CLinux
internal import Git
internal import Glibc
internal import System

/// What the file system that a notebook is on can do, found out by trying.
public struct FileSystemAbilities: Hashable, Sendable {
  /// Whether two files can be swapped in one step, renameat2(2): how a checkout replaces a note.
  public let swapsFiles: Bool
  /// Whether leases tell that somebody has a file open, fcntl(2): how late saves are noticed.
  public let hasLeases: Bool
  /// Whether names that differ by case name different files.
  public let tellsCaseApart: Bool
  /// Whether names that differ by Unicode form alone name different files.
  public let tellsFormsApart: Bool
  /// Bytes that this user can still write.
  public let freeBytes: Int
}

extension WorkTree {
  /// Tries what the file system can do, in the state folder.
  public func fileSystemAbilities() throws -> FileSystemAbilities {
    let folder = Disk.unique(beside: stateFolder + "/probe")
    try Disk.makeFolder(folder, mode: 0o700)
    defer { Disk.removeTree(folder) }
    for name in ["a", "b", "\u{E9}"] {
      close(try Disk.open("\(folder)/\(name)", O_WRONLY | O_CREAT, mode: 0o600))
    }
    let swaps = notes_renameat2(
      AT_FDCWD, folder + "/a", AT_FDCWD, folder + "/b", NOTES_RENAME_EXCHANGE)
    let reading = Glibc.open(folder + "/a", O_RDONLY | O_CLOEXEC)
    let leases = reading >= 0 && notes_take_read_lease(reading) == 0
    if reading >= 0 { close(reading) }
    var space = statvfs()
    guard statvfs(folder, &space) == 0 else {
      throw NotebookError.file(call: "statvfs", path: folder, errno: errno)
    }
    return FileSystemAbilities(
      swapsFiles: swaps == 0, hasLeases: leases,
      tellsCaseApart: access(folder + "/A", F_OK) != 0,
      tellsFormsApart: access(folder + "/e\u{301}", F_OK) != 0,
      freeBytes: Int(clamping: UInt64(space.f_bavail) &* UInt64(space.f_frsize)))
  }
}
