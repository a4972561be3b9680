package import Git
internal import Glibc
internal import Synchronization
internal import System

extension WorkTree {
  // The number of files from which a second thread is worth its start.
  private static let parallelThreshold = 300

  /// Scans the folder and compares it with the index by status only; no file is read.
  ///
  /// Listing the folders and reading the status of every file take the most time. Both run at once: a
  /// second thread reads the status of the files in the index while this thread lists.
  package func scan(against index: IndexFile) throws -> WorkingChanges {
    let access = try FolderAccess(folder: folder)
    let isLarge = index.count >= Self.parallelThreshold
    let runs = isLarge ? index.folderRuns() : [FolderRun(folder: "", positions: 0..<index.count)]
    let known = KnownFiles(
      index: index, runs: runs, root: access.root, sizeLimit: sizeLimit, modes: fileModes)
    let thread = isLarge ? HelperThread { known.look() } : nil
    // The descriptor and the index must live until the other thread is done.
    defer { withExtendedLifetime(access) { thread?.join() } }
    let rules = try IgnoreRules(of: self, index: index)
    let listing = try list(besides: index, rules)
    known.look()
    thread?.join()
    let deviations = known.deviations
    // A hidden file is not reported as ignored, even if a rule names it.
    var changes = WorkingChanges(
      skipped: listing.skipped, excludedFolders: listing.excluded.filter { !isHidden($0) })
    var seen = [Bool](repeating: false, count: index.count)
    // If all of the index's files in a folder were found and the folder has as many files, it has
    // no others. On file systems that fold names, a file may be found by a name that is not its
    // own.
    let absent = Set(deviations.filter { !$0.1.isThere }.map { $0.0 })
    let isSure = isLarge && !access.foldsNames
    let runsByFolder = isSure ? Dictionary(grouping: runs, by: \.folder) : [:]
    for (folder, files) in zip(listing.folders, listing.filesByFolder) {
      if let runs = runsByFolder[folder],
        runs.reduce(0, { $0 + $1.positions.count }) == files.count,
        absent.isEmpty || !runs.contains(where: { $0.positions.contains(where: absent.contains) })
      {
        for run in runs { for position in run.positions { seen[position] = true } }
        continue
      }
      for path in listing.files(files) {
        if let position = index.position(of: path) {
          seen[position] = true
          continue
        }
        try addNew(path, of: listing, rules, access, index, to: &changes)
      }
    }
    // A file that is in no folder's listing does not exist: its path may lead through a link.
    for (position, found) in deviations where seen[position] {
      if case .file = found {} else { seen[position] = false }
      changes.add(found, at: index.path(at: position), position: position, of: index)
    }
    changes.hardLinks += known.hardLinks.map { index.path(at: $0) }
    try changes.complete(seen, of: index, access)
    keepFitCandidates(of: &changes)
    try separateWaiting(from: &changes, of: index)
    try excludeConverted(
      from: &changes, of: index, attributesFolders: listing.attributesFolders)
    return changes
  }

  /// The files that are in the folder and not in the index, by path. Does not read the status of files in the
  /// index. Leaves out a file in the place of a foreign commit's link.
  package func newFiles(besides index: IndexFile) throws -> [TreePath] {
    let access = try FolderAccess(folder: folder)
    let rules = try IgnoreRules(of: self, index: index)
    let listing = try list(besides: index, rules)
    var changes = WorkingChanges()
    for files in listing.filesByFolder {
      for path in listing.files(files) {
        let known = index.position(of: path).map(index.mode(at:))
        if known?.isFile != true {
          try addNew(path, of: listing, rules, access, index, to: &changes)
        }
      }
    }
    changes.finish(against: index)
    keepFitCandidates(of: &changes)
    return changes.candidates.map(\.path)
  }

  private func list(besides index: IndexFile, _ rules: IgnoreRules) throws -> FolderListing {
    try FolderListing(folder: folder) { path, hasIgnoreFile in
      guard !index.containsFolder(path) else { return false }
      return try isHidden(path)
        || rules.mayExclude(hasIgnoreFile) && rules.isIgnored(path, isFolder: true)
    }
  }

  /// Adds a file that the index does not have.
  private func addNew(
    _ path: TreePath, of listing: FolderListing, _ rules: IgnoreRules, _ access: FolderAccess,
    _ index: IndexFile, to changes: inout WorkingChanges
  ) throws {
    if SkipRules.isDebris(path.name.bytes) || isHidden(path) { return }
    let found = FoundFile(path, root: access.root, sizeLimit: sizeLimit)
    let isIgnored =
      try rules.mayExclude(listing.hasIgnoreFile) && rules.isIgnored(path, isFolder: false)
    if case .file = found, isIgnored {
      changes.ignoredNotes += path.titleRange == nil ? 0 : 1
    } else {
      changes.add(found, at: path, position: nil, of: index)
    }
  }

  private func keepFitCandidates(of changes: inout WorkingChanges) {
    var candidates = changes.candidates
    // Moves the list without a copy, because there may be very many candidates.
    changes.candidates = []
    candidates.removeAll { $0.isNew && !takesUnfitNames && !changes.takes($0.path) }
    changes.candidates = candidates
  }
}

enum FoundFile {
  /// Nothing, or a folder: its content is listed separately.
  case none
  case skipped(SkipReason)
  case file(stat)

  /// Whether a file or a special file was found.
  var isThere: Bool {
    switch self {
    case .none, .skipped(.unreadable): false
    case .skipped, .file: true
    }
  }

  init(_ path: TreePath, root: Int32, sizeLimit: Int) {
    var status = stat()
    let isThere = Counted.fstatat(root, path.cString, &status, AT_SYMLINK_NOFOLLOW) == 0
    self = isThere ? Self(status, sizeLimit: sizeLimit) : Self(errno: errno)
  }

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

/// The files in the index, whose status is read by any number of threads.
private final class KnownFiles: Sendable {
  private let index: IndexFile
  private let shares: [(folder: [CChar], positions: Range<Int>)]
  private let root: Int32
  private let sizeLimit: Int
  private let modes: FileModeTrust
  private let next = Atomic(0)
  private let found = Mutex<[(Int, FoundFile)]>([])
  private let linked = Mutex<[Int]>([])

  // How many files a thread examines at a time.
  private static let share = 128
  // The number of files from which a folder is opened: opening and closing takes as long as looking
  // up the folder a dozen times.
  private static let filesWorthOpening = 17

  init(index: IndexFile, runs: [FolderRun], root: Int32, sizeLimit: Int, modes: FileModeTrust) {
    self.index = index
    self.root = root
    self.sizeLimit = sizeLimit
    self.modes = modes
    shares = runs.flatMap { run in
      stride(from: run.positions.lowerBound, to: run.positions.upperBound, by: Self.share).map {
        (folder: run.folder.cString, positions: $0..<min($0 + Self.share, run.positions.upperBound))
      }
    }
  }

  /// The files that differ from the index, by their positions in it; complete when every thread has
  /// ended.
  var deviations: [(Int, FoundFile)] { found.withLock { $0 } }

  /// The unchanged files that have another name on the disk.
  var hardLinks: [Int] { linked.withLock { $0 } }

  func look() {
    var deviations: [(Int, FoundFile)] = []
    var linked: [Int] = []
    while true {
      let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
      guard number < shares.count else { break }
      let (name, positions) = shares[number]
      // The notebook's own folder is ".", and is already open.
      let folder =
        name.count > 2 && positions.count >= Self.filesWorthOpening
        ? Counted.openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1
      defer { if folder >= 0 { close(folder) } }
      for position in positions {
        let status =
          folder >= 0
          ? index.fileStatus(at: position, below: folder, skipping: name.count)
          : index.fileStatus(at: position, below: root)
        guard let status else {
          deviations.append((position, FoundFile(errno: errno)))
          continue
        }
        if !index.isUnchanged(status, at: position, trusting: modes) {
          deviations.append((position, FoundFile(status, sizeLimit: sizeLimit)))
        } else if status.st_nlink > 1 {
          linked.append(position)
        }
      }
    }
    if !deviations.isEmpty { found.withLock { $0 += deviations } }
    if !linked.isEmpty { self.linked.withLock { $0 += linked } }
  }
}

extension IndexFile {
  /// Whether a plain file certainly has the content and the mode that the entry records.
  func isUnchanged(_ status: stat, at position: Int, trusting modes: FileModeTrust) -> Bool {
    let mode = self.mode(at: position)
    return status.st_mode & S_IFMT == S_IFREG && isUnchanged(status, at: position)
      && modes.mode(of: FileMode(status), known: mode) == mode
  }
}
