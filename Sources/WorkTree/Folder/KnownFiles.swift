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
  private let modes: FileModeTrust
  private let next = Atomic(0)
  private let found = Mutex<[(Int, LookedAt)]>([])

  // How many files a thread takes at a time.
  private static let share = 128
  // For how many files in a folder it is opened: opening and closing it takes as long as finding the
  // folder anew for a dozen.
  private static let filesWorthOpening = 17

  init(index: IndexFile, root: Int32, sizeLimit: Int, modes: FileModeTrust) {
    self.index = index
    self.root = root
    self.sizeLimit = sizeLimit
    self.modes = modes
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
      look(at: start..<min(start + Self.share, index.count), &deviations)
    }
    if !deviations.isEmpty { found.withLock { $0 += deviations } }
  }

  private func look(at positions: Range<Int>, _ deviations: inout [(Int, LookedAt)]) {
    var folder: OpenedFolder?
    for position in positions {
      let path = index.pathBytes(at: position)
      let start = path.nameStart
      let parent = UnsafeRawBufferPointer(rebasing: path[..<start])
      if folder?.isAt(parent) != true {
        let later = position + Self.filesWorthOpening - 1
        let isWorthIt =
          start > 0 && later < positions.upperBound
          && index.pathBytes(at: later).starts(with: parent)
        folder = isWorthIt ? OpenedFolder(parent, below: root) : nil
      }
      let deviation = index.withPath(at: position) { name in
        look(
          at: position, name.advanced(by: folder == nil ? 0 : start),
          in: folder?.descriptor ?? root)
      }
      if let deviation { deviations.append((position, deviation)) }
    }
  }

  /// Nil for a file that is as it was.
  private func look(
    at position: Int, _ name: UnsafePointer<CChar>, in folder: Int32
  ) -> LookedAt? {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return errno == ENOENT || errno == ENOTDIR
        ? .missing : .skipped(.unreadable(errno: errno))
    }
    if status.st_mode & S_IFMT == S_IFREG, index.isUnchanged(status, at: position),
      modes.isSame(FileMode(status), as: index.mode(at: position))
    {
      return nil
    }
    return LookedAt(status, sizeLimit: sizeLimit)
  }
}

/// A folder kept open while its files are looked at, so that the system need not find it for each.
private struct OpenedFolder: ~Copyable {
  let descriptor: Int32
  private let path: UnsafeRawBufferPointer

  /// Nil when it cannot be opened: it is gone, a link, or not ours to read.
  ///
  /// - Parameter path: its path with a slash after it, in memory that outlives this.
  init?(_ path: UnsafeRawBufferPointer, below root: Int32) {
    // No block of memory: see `HelperThread`.
    descriptor = withUnsafeTemporaryAllocation(of: CChar.self, capacity: path.count) { name in
      for (place, byte) in path.dropLast().enumerated() { name[place] = CChar(bitPattern: byte) }
      name[path.count - 1] = 0
      return name.baseAddress.map {
        openat(root, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      } ?? -1
    }
    self.path = path
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  func isAt(_ path: UnsafeRawBufferPointer) -> Bool { self.path.isEqual(to: path) }
}
