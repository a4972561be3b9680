internal import Git
internal import Glibc
internal import Synchronization

/// What stands at a path.
enum LookedAt {
  case missing
  /// A folder: what is in it is seen by itself.
  case folder
  case skipped(SkipReason)
  case file(stat)

  /// - Parameter name: the path, seen from `root`.
  init(_ name: UnsafePointer<CChar>, root: Int32, sizeLimit: Int) {
    var status = stat()
    guard fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      self =
        errno == ENOENT || errno == ENOTDIR ? .missing : .skipped(.unreadable(errno: errno))
      return
    }
    self.init(status, sizeLimit: sizeLimit)
  }

  init(_ status: stat, sizeLimit: Int) {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: self = .folder
    case S_IFLNK: self = .skipped(.symbolicLink)
    case S_IFREG:
      let size = Int(status.st_size)
      self = size > sizeLimit ? .skipped(.tooLarge(size: size)) : .file(status)
    default: self = .skipped(.specialFile)
    }
  }
}

/// The files that the index has, looked at by any number of threads.
final class KnownFiles: Sendable {
  private let index: IndexFile
  private let root: Int32
  private let sizeLimit: Int
  private let next = Atomic(0)
  private let found = Mutex<[(Int, LookedAt)]>([])

  // How many files a thread takes at a time.
  private static let share = 128

  init(index: IndexFile, root: Int32, sizeLimit: Int) {
    self.index = index
    self.root = root
    self.sizeLimit = sizeLimit
  }

  /// The files that are not as the index remembers them, by their place in it; complete when every
  /// thread is done.
  var deviations: [(Int, LookedAt)] { found.withLock { $0 } }

  /// Looks at files until none is left.
  func look() {
    var deviations: [(Int, LookedAt)] = []
    while true {
      let start = next.wrappingAdd(Self.share, ordering: .relaxed).oldValue
      guard start < index.count else { break }
      for position in start..<min(start + Self.share, index.count) {
        if let deviation = look(at: position) { deviations.append((position, deviation)) }
      }
    }
    if !deviations.isEmpty { found.withLock { $0 += deviations } }
  }

  /// Nil for a file that is as it was.
  private func look(at position: Int) -> LookedAt? {
    var status = stat()
    let failure = index.withPath(at: position) { name in
      fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno
    }
    guard failure == 0 else {
      return failure == ENOENT || failure == ENOTDIR
        ? .missing : .skipped(.unreadable(errno: failure))
    }
    if status.st_mode & S_IFMT == S_IFREG, index.isUnchanged(status, at: position) { return nil }
    return LookedAt(status, sizeLimit: sizeLimit)
  }
}
