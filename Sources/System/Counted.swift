internal import CLinux
package import Glibc

/// System calls on files, with the same parameters and results as in C, which are also counted
/// (`Counter`). All set `errno` as in C.
package enum Counted {
  /// open(2).
  package static func open(
    _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t = 0
  ) -> Int32 {
    opened(Glibc.open(path, flags, mode), flags)
  }

  /// openat(2).
  package static func openat(
    _ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t = 0
  ) -> Int32 {
    opened(Glibc.openat(folder, path, flags, mode), flags)
  }

  private static func opened(_ descriptor: Int32, _ flags: Int32) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    let kind: Counter =
      flags & O_DIRECTORY != 0
      ? .openedFolders : flags & O_ACCMODE == O_RDONLY ? .readFiles : .writtenFiles
    kind.add()
    return descriptor
  }

  /// stat(2).
  package static func stat(
    _ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Glibc.stat>
  ) -> Int32 {
    Counter.statusCalls.add()
    // With this spelling, Swift understands `stat` as the structure.
    return Glibc.fstatat(AT_FDCWD, path, status, 0)
  }

  /// lstat(2).
  package static func lstat(
    _ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Glibc.stat>
  ) -> Int32 {
    Counter.statusCalls.add()
    return Glibc.lstat(path, status)
  }

  /// fstat(2).
  @discardableResult
  package static func fstat(
    _ descriptor: Int32, _ status: UnsafeMutablePointer<Glibc.stat>
  ) -> Int32 {
    Counter.statusCalls.add()
    return Glibc.fstat(descriptor, status)
  }

  /// fstatat(2).
  package static func fstatat(
    _ folder: Int32, _ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Glibc.stat>,
    _ flags: Int32
  ) -> Int32 {
    Counter.statusCalls.add()
    return Glibc.fstatat(folder, path, status, flags)
  }

  /// access(2).
  package static func access(_ path: UnsafePointer<CChar>, _ mode: Int32) -> Int32 {
    Counter.statusCalls.add()
    return Glibc.access(path, mode)
  }

  /// faccessat(2).
  package static func faccessat(
    _ folder: Int32, _ path: UnsafePointer<CChar>, _ mode: Int32, _ flags: Int32
  ) -> Int32 {
    Counter.statusCalls.add()
    return Glibc.faccessat(folder, path, mode, flags)
  }

  /// fsync(2).
  static func fsync(_ descriptor: Int32) -> Int32 {
    Counter.syncs.add()
    return Glibc.fsync(descriptor)
  }

  /// syncfs(2).
  static func syncfs(_ descriptor: Int32) -> Int32 {
    Counter.syncs.add()
    return notes_syncfs(descriptor)
  }

  /// sync_file_range(2), which starts writing a file's content to the disk without waiting. Only a
  /// hint: fsync(2) must follow.
  package static func startWriting(_ descriptor: Int32) {
    Counter.writebacks.add()
    _ = notes_start_writing(descriptor)
  }
}

extension Counted {
  // Linux's O_NOATIME, which Glibc's module does not define.
  private static let noAccessTime: Int32 = 0o1_000_000

  /// openat(2) for reading without changing the file's access time, which shows other programs' reads. Only
  /// the file's owner may do this; for others the file is opened as usual. Links are not followed.
  package static func openWithoutTrace(
    _ folder: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32 = 0
  ) -> Int32 {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags
    let descriptor = openat(folder, name, flags | noAccessTime)
    return descriptor < 0 && errno == EPERM ? openat(folder, name, flags) : descriptor
  }
}
