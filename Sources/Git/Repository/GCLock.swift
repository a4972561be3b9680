internal import CLinux
internal import Glibc
internal import State
internal import System

/// The lock of a process, git's or notes', that collects garbage: `.git/gc.pid`, in the form of git-gc(1). A second
/// lock, on another file, is released by the kernel if the process is killed.
public final class GCLock {
  private let path: String
  private let own: FileLock

  // git respects a lock that is younger (builtin/gc.c).
  private static let longestRun = 12 * 3_600

  /// Acquires the lock; nil if git or another `notes` process has it.
  public init?(_ repository: Repository) throws {
    path = repository.gitFolder + "/gc.pid"
    let lock = repository.stateFolder[.gcLock]
    guard let own = try Disk.lock(lock), Counted.access(path + ".lock", F_OK) != 0,
      try Self.claim(path)
    else { return nil }
    self.own = own
  }

  deinit { unlink(path) }

  private static func claim(_ path: String) throws -> Bool {
    let temporary = path + ".notes"
    unlink(temporary)
    let descriptor = try Disk.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
    // On a full disk the lock file stays empty, and the collection, which frees space, continues.
    try? Disk.write(Array("\(getpid()) \(host)".utf8), to: descriptor, path: temporary)
    close(descriptor)
    defer { unlink(temporary) }
    if put(temporary, at: path) { return true }
    guard errno == EEXIST, !isHeld(path) else { return false }
    unlink(path)
    return put(temporary, at: path)
  }

  /// Renames the file to the lock's name; returns false, with `errno` set, if the name is in use.
  private static func put(_ temporary: String, at path: String) -> Bool {
    if link(temporary, path) == 0 { return true }
    // Some file systems have no hard links, and some cannot rename without replacing. There the second lock
    // excludes other `notes` processes, and only git could interfere, between two calls.
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return false }
    if notes_renameat2(AT_FDCWD, temporary, AT_FDCWD, path, NOTES_RENAME_NOREPLACE) == 0 {
      return true
    }
    guard [EINVAL, ENOSYS].contains(errno) else { return false }
    if Counted.access(path, F_OK) == 0 {
      errno = EEXIST
      return false
    }
    return rename(temporary, path) == 0
  }

  /// Whether the process named in the file is running.
  private static func isHeld(_ path: String) -> Bool {
    var status = stat()
    guard Counted.lstat(path, &status) == 0, WallClock.age(of: status) < longestRun,
      let content = Disk.contentIfAny(path)
    else { return false }
    let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let pid = pid_t(words[0]) else { return false }
    return words[1] != host || kill(pid, 0) == 0 || errno == EPERM
  }

  private static var host: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
