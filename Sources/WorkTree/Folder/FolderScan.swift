package import Git
internal import Glibc
internal import Synchronization
internal import System

extension WorkTree {
  // From how many files on a second thread is worth its start.
  private static let parallelThreshold = 300

  /// Scans the folder and compares it with the index by status alone; nothing is read yet.
  package func scan() throws -> WorkingChanges { try scan(against: indexFile()) }

  /// The same with `index`.
  ///
  /// Two things take the time: listing the folders, and asking for the status of every file. Both are
  /// done at once: a second thread looks at the files that the index has, while this one lists.
  package func scan(against index: IndexFile) throws -> WorkingChanges {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let known = KnownFiles(index: index, root: root, sizeLimit: sizeLimit, modes: fileModes)
    let thread = index.count < Self.parallelThreshold ? nil : HelperThread { known.look() }
    // The descriptor and the index stay until the other thread is done.
    defer { thread?.join() }
    let rules = IgnoreRules(repository: repository)
    let listing = try FolderListing(folder: folder) { path, hasIgnoreFile in
      try rules.mayExclude(hasIgnoreFile) && !index.containsFolder(path)
        && rules.isIgnored(path, isFolder: true)
    }
    var changes = WorkingChanges(skipped: listing.skipped)
    var seen = [Bool](repeating: false, count: index.count)
    for path in listing.files {
      if let position = index.position(of: path) {
        seen[position] = true
      } else if !SkipRules.isDebris(path.name.bytes) {
        let found = FileStanding(path, root: root, sizeLimit: sizeLimit)
        if case .file = found, rules.mayExclude(listing.hasIgnoreFile),
          try rules.isIgnored(path, isFolder: false)
        {
          continue
        }
        changes.add(found, at: path, position: nil)
      }
    }
    known.look()
    thread?.join()
    // What no folder lists is not there: what stands at its path may be beyond a link.
    for (position, found) in known.deviations where seen[position] {
      if case .file = found {} else { seen[position] = false }
      changes.add(found, at: index.path(at: position), position: position)
    }
    // A path that could not be looked at is not gone, and neither is what is below it.
    let unseen = changes.skipped.map(\.path)
    var candidates = changes.candidates
    // They may be very many: moved, not copied.
    changes.candidates = []
    candidates.sort { $0.path < $1.path }
    candidates.removeAll { $0.isNew && !takesUnfitNames && !changes.takes($0.path) }
    changes.candidates = candidates
    for position in 0..<index.count where !seen[position] {
      // Links and submodules of foreign commits are not ours to create or delete.
      guard index.mode(at: position).isFile else { continue }
      let entry = index[position]
      if entry.skipsWorktree {
        changes.skipped.append(SkippedFile(path: entry.path, reason: .sparse))
      } else if !unseen.contains(where: { $0 == entry.path || entry.path.isBelow($0) }) {
        changes.deleted.append(entry)
      }
    }
    return changes
  }
}

/// What stands at a path.
enum FileStanding {
  /// Nothing, or a folder: what is in that is seen by itself.
  case none
  case skipped(SkipReason)
  case file(stat)

  init(_ path: TreePath, root: Int32, sizeLimit: Int) {
    var status = stat()
    let isThere = fstatat(root, path.cString, &status, AT_SYMLINK_NOFOLLOW) == 0
    self = isThere ? Self(status, sizeLimit: sizeLimit) : Self(errno: errno)
  }

  /// - Parameter errno: what asking for the status failed with.
  init(errno: Int32) {
    self = errno == ENOENT || errno == ENOTDIR ? .none : .skipped(.unreadable(errno: errno))
  }

  init(_ status: stat, sizeLimit: Int) {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: self = .none
    case S_IFLNK: self = .skipped(.symbolicLink)
    case S_IFREG:
      let size = Int(status.st_size)
      self = size > sizeLimit ? .skipped(.tooLarge(size: size)) : .file(status)
    default: self = .skipped(.specialFile)
    }
  }
}

/// The files that the index has, looked at by any number of threads.
private final class KnownFiles: Sendable {
  private let index: IndexFile
  private let root: Int32
  private let sizeLimit: Int
  private let modes: FileModeTrust
  private let next = Atomic(0)
  private let found = Mutex<[(Int, FileStanding)]>([])

  // How many files a thread takes at a time.
  private static let share = 128

  init(index: IndexFile, root: Int32, sizeLimit: Int, modes: FileModeTrust) {
    self.index = index
    self.root = root
    self.sizeLimit = sizeLimit
    self.modes = modes
  }

  /// The files that are not as the index remembers them, by their place in it; complete when every
  /// thread is done.
  var deviations: [(Int, FileStanding)] { found.withLock { $0 } }

  /// Looks at files until none is left.
  func look() {
    var deviations: [(Int, FileStanding)] = []
    while true {
      let start = next.wrappingAdd(Self.share, ordering: .relaxed).oldValue
      guard start < index.count else { break }
      for position in start..<min(start + Self.share, index.count) {
        guard let status = index.fileStatus(at: position, below: root) else {
          deviations.append((position, FileStanding(errno: errno)))
          continue
        }
        if !index.isUnchanged(status, at: position, trusting: modes) {
          deviations.append((position, FileStanding(status, sizeLimit: sizeLimit)))
        }
      }
    }
    if !deviations.isEmpty { found.withLock { $0 += deviations } }
  }
}

extension IndexFile {
  /// Whether a plain file is beyond doubt as the entry remembers it.
  func isUnchanged(_ status: stat, at position: Int, trusting modes: FileModeTrust) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && isUnchanged(status, at: position)
      && modes.isSame(FileMode(status), as: mode(at: position))
  }
}
