internal import Files
internal import Glibc

/// The lock under which git and we tidy up a repository: `.git/gc.pid`, as git-gc(1) writes and
/// believes it, with a lock of our own before it that the kernel takes back from a killed process.
public final class CollectionLock {
  private let path: String
  private let own: Int32
  private var isTaken = false

  // git believes a lock that is younger (builtin/gc.c).
  private static let longestRun = 12 * 3_600

  /// Takes the lock, or returns nil when git or another `notes` has it.
  public init?(_ repository: Repository) throws {
    path = repository.gitFolder + "/gc.pid"
    let lock = repository.gitFolder + "/notes/gc.lock"
    own = try Disk.open(lock, O_RDWR | O_CREAT, mode: 0o600)
    guard flock(own, LOCK_EX | LOCK_NB) == 0, access(path + ".lock", F_OK) != 0,
      try claim()
    else { return nil }
    isTaken = true
  }

  // Runs for a lock that was not to be had, too.
  deinit {
    if isTaken { unlink(path) }
    if own >= 0 { close(own) }
  }

  private func claim() throws -> Bool {
    let temporary = path + ".notes"
    unlink(temporary)
    let descriptor = try Disk.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
    // On a full disk the lock stays empty, and what makes room goes on.
    try? Disk.write(Array("\(getpid()) \(Self.host)".utf8), to: descriptor, path: temporary)
    close(descriptor)
    defer { unlink(temporary) }
    if link(temporary, path) == 0 { return true }
    guard errno == EEXIST, !isHeld else { return false }
    unlink(path)
    return link(temporary, path) == 0
  }

  /// Whether the process that the file names is at work.
  private var isHeld: Bool {
    var status = stat()
    guard lstat(path, &status) == 0, time(nil) - status.st_mtim.tv_sec < Self.longestRun,
      let content = try? Disk.read(path)
    else { return false }
    let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let pid = pid_t(words[0]) else { return false }
    return words[1] != Self.host || kill(pid, 0) == 0 || errno == EPERM
  }

  private static var host: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
