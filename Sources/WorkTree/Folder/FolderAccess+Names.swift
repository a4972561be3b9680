internal import CLinux
public import Git
internal import Glibc
internal import Merge
internal import State
internal import System

// File systems that do not hold every name beside every other: those of other systems refuse some
// characters or long names, and take names that differ by case for one.
extension FolderAccess {
  /// How a path is found in the folder.
  package enum Match {
    case asItIs
    /// The file system takes it for another: one of its names is found, but its folder lists it only as
    /// it is written otherwise.
    case asAnother
    case absent
  }

  package func match(of path: TreePath) throws -> Match {
    guard foldsNames else { return try isFile(path) ? .asItIs : .absent }
    var current: TreePath?
    for name in path.components {
      let next = current.map { $0.appending(name) } ?? name
      current = next
      if listed.contains(next) { continue }
      guard let found = try status(of: next) else { return .absent }
      let standing = try listing(of: next, as: found)
      guard standing == .asItIs else { return standing }
      // A file may be renamed at any time; so may a folder, but then all is in motion.
      if next != path { listed.insert(next) }
    }
    return try isFile(path) ? .asItIs : .absent
  }

  /// Whether the path would be taken for another that is there. Costs nothing where names are told
  /// apart.
  func isTakenForAnother(_ path: TreePath) throws -> Bool {
    try foldsNames && match(of: path) == .asAnother
  }

  /// Whether a file of that path cannot stand in the folder as it is now. Makes folders of its names and
  /// removes them, where it can.
  package func cannotHold(_ path: TreePath) -> Bool {
    // If the folder cannot be looked at, the write that follows says why.
    switch try? match(of: path) {
    case .asAnother: true
    case .absent: obstacle(of: path) != nil || refuses(path)
    case .asItIs, nil: false
    }
  }

  /// Why a versioned file that the folder lacks is not there; nil for one that is. Nothing is tried:
  /// of a name in a folder that tells names apart it is not known whether that takes it.
  package func absence(of path: TreePath) throws -> SkipReason? {
    if let obstacle = obstacle(of: path) { return .obstructed(by: obstacle) }
    switch try match(of: path) {
    case .asItIs: return nil
    case .asAnother: return .sparse
    case .absent: return foldsNames || hasUnfitForm(path) ? .sparse : .waiting
    }
  }

  /// Throws `notPlain` if a link, or what is neither a file nor a folder, is at a path or on the way to it.
  package func checkIsPlain(_ path: TreePath) throws {
    switch obstacle(of: path) {
    case let found? where found.kind == .symbolicLink:
      throw WorkTreeError.notPlain(found.path, isLink: true)
    case let found? where found.kind == .special:
      throw WorkTreeError.notPlain(found.path, isLink: false)
    default: return
    }
  }

  /// The obstacle that keeps a note of that path out of the folder; an empty folder would give way.
  package func obstacle(of path: TreePath) -> Obstacle? {
    for place in path.ancestors.reversed() + [path] {
      var status = stat()
      // No part before the last is a link: each was looked at.
      guard Counted.fstatat(root, place.cString, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        return nil
      }
      let isLast = place == path
      switch status.st_mode & S_IFMT {
      case S_IFLNK: return Obstacle(path: place, kind: .symbolicLink)
      case S_IFDIR:
        if isLast, holdsSomething(place) {
          return Obstacle(path: place, kind: isRepository(place) ? .repository : .folder)
        }
      case S_IFREG: if !isLast { return Obstacle(path: place, kind: .file) }
      default: return Obstacle(path: place, kind: .special)
      }
    }
    return nil
  }

  private func holdsSomething(_ folder: TreePath) -> Bool {
    var isEmpty = true
    do { try list(folder) { _ in isEmpty = false } } catch { return true }
    return !isEmpty
  }

  private func isFile(_ path: TreePath) throws -> Bool {
    try status(of: path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
  }

  private func hasUnfitForm(_ path: TreePath) -> Bool {
    var status = stat()
    return Counted.fstatat(root, path.cString, &status, AT_SYMLINK_NOFOLLOW) != 0
      && Self.isOfForm(errno)
  }

  /// How its folder lists what is found under a path.
  private func listing(of path: TreePath, as found: stat) throws -> Match {
    let name = path.name
    let key = NameKey(name)
    // The file system's memory of a name may outlast it (fuse(4)).
    var result = Match.absent
    try list(path.parent ?? "") { entry in
      let other = TreePath(bytes: entry.name)
      if other == name {
        result = .asItIs
      } else if result == .absent, entry.inode == found.st_ino || NameKey(other) == key {
        // Not every file system has numbers that stay, nor folds names as we do.
        result = .asAnother
      }
    }
    return result
  }

  /// Whether the file system refuses the path while it takes others in the same folder: it is the name.
  /// It is tried with folders: an empty one that a killed process leaves is nobody's note, and in no
  /// note's way (see `Checkout`).
  func refuses(_ path: TreePath) -> Bool {
    let current = dup(root)
    guard current >= 0 else { return false }
    return refuses(path.components[...], in: current)
  }

  /// - Parameter folder: is closed.
  private func refuses(_ names: ArraySlice<TreePath>, in folder: Int32) -> Bool {
    defer { close(folder) }
    guard let name = names.first else { return false }
    let cName = name.cString
    let failure = mkdirat(folder, cName, 0o700) == 0 ? 0 : errno
    defer { if failure == 0 { unlinkat(folder, cName, AT_REMOVEDIR) } }
    guard failure == 0 || failure == EEXIST else {
      return Self.isOfName(failure) && takesOther(in: folder)
    }
    if names.count == 1 { return false }
    let next = Counted.openat(folder, cName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return next >= 0 && refuses(names.dropFirst(), in: next)
  }

  private func takesOther(in folder: Int32) -> Bool {
    let name = "notes-probe-\(getpid()).tmp"
    guard mkdirat(folder, name, 0o700) == 0 else { return false }
    unlinkat(folder, name, AT_REMOVEDIR)
    return true
  }

  /// Whether a file system may say so of a name that it does not take.
  static func isOfName(_ number: Int32) -> Bool {
    isOfForm(number) || [ENOENT, EACCES, EPERM, EOPNOTSUPP].contains(number)
  }

  /// Whether a file system says so of a name that nothing there can have.
  static func isOfForm(_ number: Int32) -> Bool {
    number == EINVAL || number == ENAMETOOLONG || number == EILSEQ
  }
}

// Notes that the folder cannot hold: notes-merge(7), "Notes that are left out of the folder".
extension WorkTree {
  /// The notes of the last version that are not in the folder, because they could not come to their place,
  /// and why; by path.
  public func absentFiles() throws -> [SkippedFile] {
    let index = try indexFile()
    if index.sparsePositions.isEmpty { return [] }
    let absences = try Absences(in: self, index)
    return try index.sparsePositions.map { index[$0].path }.compactMap { path in
      try absences.reason(for: path).map { SkippedFile(path: path, reason: $0) }
    }
  }

  /// Their paths.
  public func sparseFiles() throws -> [TreePath] { try absentFiles().map(\.path) }

  /// Why a versioned file is not in the folder; nil for one that is there, or that nothing keeps out.
  public func absence(of path: TreePath) throws -> SkippedFile? {
    let index = try indexFile()
    let absences = try Absences(in: self, index)
    let isSparse = index.position(of: path).map(index.skipsWorktree) ?? false
    let reason =
      try isSparse
      ? absences.reason(for: path)
      : absences.access.obstacle(of: path).map { .obstructed(by: $0) }
    return reason.map { SkippedFile(path: path, reason: $0) }
  }
}

/// Why notes are not in the folder that the index has as left out.
private struct Absences {
  let access: FolderAccess
  private let held: WaitingFiles
  private let keptBack: KeptBackFiles

  init(in workTree: WorkTree, _ index: IndexFile) throws {
    access = try FolderAccess(folder: workTree.folder)
    held = try WaitingFiles(in: workTree.stateFolder)
    keptBack = KeptBackFiles(of: workTree, index: index, access)
  }

  func reason(for path: TreePath) throws -> SkipReason? {
    let record = held[path]
    switch try access.absence(of: path) {
    case nil:
      // Git sets the bit for files that are there, too.
      guard let status = try access.status(of: path) else { return .waiting }
      let obstacle = try keptBack.obstacle(by: status, at: path) ?? record?.obstacle
      return obstacle.map { .obstructed(by: $0) }
    case .waiting?:
      if let obstacle = try keptBack.obstacle(onTheWayTo: path) { return .obstructed(by: obstacle) }
      guard let obstacle = record?.obstacle, obstacle.isToBeTried else { return .waiting }
      return .obstructed(by: obstacle)
    case let reason?: return reason
    }
  }
}

/// The abilities of the file system that a notebook is on, found out by trying.
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
  /// Bytes that this user can still write beside the notes.
  package func freeBytes() throws -> Int { try Disk.freeBytes(at: folder) }

  /// Tries what the file system can do, in the state folder.
  public func fileSystemAbilities() throws -> FileSystemAbilities {
    let folder = Disk.unique(beside: stateFolder.temporary(.probe))
    try Disk.makeFolder(folder, mode: 0o700)
    defer { Disk.removeTree(folder) }
    for name in ["a", "b", "\u{E9}"] {
      close(try Disk.open("\(folder)/\(name)", O_WRONLY | O_CREAT, mode: 0o600))
    }
    let swaps = notes_renameat2(
      AT_FDCWD, folder + "/a", AT_FDCWD, folder + "/b", NOTES_RENAME_EXCHANGE)
    let reading = Counted.open(folder + "/a", O_RDONLY | O_CLOEXEC)
    let leases = reading >= 0 && notes_take_read_lease(reading) == 0
    if reading >= 0 { close(reading) }
    return FileSystemAbilities(
      swapsFiles: swaps == 0, hasLeases: leases,
      tellsCaseApart: Counted.access(folder + "/A", F_OK) != 0,
      tellsFormsApart: Counted.access(folder + "/e\u{301}", F_OK) != 0,
      freeBytes: try Disk.freeBytes(at: folder))
  }
}
