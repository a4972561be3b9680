internal import CLinux
public import Git
internal import Glibc
internal import Merge
internal import State
internal import System

// File systems on which not all names can exist side by side. Those of other systems refuse some characters or
// long names, and treat names that differ by case as equal.
extension FolderAccess {
  /// How a path is found in the folder.
  package enum Match {
    case asItIs
    /// The file system treats it as equal to another path: the lookup succeeds, but the folder lists
    /// one of the names in another spelling.
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
      // Remember only folders, because a file may be renamed at any time. If a folder is renamed, all paths below it
      // change anyway.
      if next != path { listed.insert(next) }
    }
    return try isFile(path) ? .asItIs : .absent
  }

  /// Whether the file system would treat the path as another that exists. Costs nothing if the file
  /// system distinguishes names.
  func isTakenForAnother(_ path: TreePath) throws -> Bool {
    try foldsNames && match(of: path) == .asAnother
  }

  /// Whether a file of that path cannot be put into the folder now. Makes and removes folders with its
  /// names, if possible.
  package func cannotHold(_ path: TreePath) -> Bool {
    // If the folder cannot be read, the write that follows reports why.
    switch try? match(of: path) {
    case .asAnother: true
    case .absent: obstacle(of: path) != nil || refuses(path)
    case .asItIs, nil: false
    }
  }

  /// The reason why a versioned file is not in the folder; nil if it is there. Nothing is written as
  /// a trial: if the file system distinguishes names, this does not find out whether it accepts the
  /// name.
  package func absence(of path: TreePath) throws -> SkipReason? {
    if let obstacle = obstacle(of: path) { return .obstructed(by: obstacle) }
    switch try match(of: path) {
    case .asItIs: return nil
    case .asAnother: return .sparse
    case .absent: return foldsNames || hasUnfitForm(path) ? .sparse : .waiting
    }
  }

  /// Throws `notPlain` if there is a link, or something other than a file or folder, at a path or
  /// above it.
  package func checkIsPlain(_ path: TreePath) throws {
    switch obstacle(of: path) {
    case let found? where found.kind == .symbolicLink:
      throw WorkTreeError.notPlain(found.path, isLink: true)
    case let found? where found.kind == .special:
      throw WorkTreeError.notPlain(found.path, isLink: false)
    default: return
    }
  }

  /// The obstacle that keeps a note with that path out of the folder; an empty folder is no
  /// obstacle, as it is removed.
  package func obstacle(of path: TreePath) -> Obstacle? {
    for place in path.ancestors.reversed() + [path] {
      var status = stat()
      // Only the last part of the path can be a link: each part before it was checked.
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

  /// How the parent folder lists the entry that was found under a path.
  private func listing(of path: TreePath, as found: stat) throws -> Match {
    let name = path.name
    let key = NameKey(name)
    // A found entry that is not listed counts as absent: a file system may remember a removed name (fuse(4)).
    var result = Match.absent
    try list(path.parent ?? "") { entry in
      let other = TreePath(bytes: entry.name)
      if other == name {
        result = .asItIs
      } else if result == .absent, entry.inode == found.st_ino || NameKey(other) == key {
        // Some file systems have no stable inode numbers, or fold names in another way than notes
        // does.
        result = .asAnother
      }
    }
    return result
  }

  /// Whether the file system refuses the path because of its name: it accepts other names in the same folder.
  /// The trial makes folders. If a killed process leaves one, it is empty, is not a note, and is in no note's
  /// way (see `Checkout`).
  func refuses(_ path: TreePath) -> Bool {
    let current = dup(root)
    guard current >= 0 else { return false }
    return refuses(path.components[...], in: current)
  }

  /// - Parameter folder: an open descriptor, which this function closes.
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

  /// Whether this error number can mean that the file system refuses a name.
  static func isOfName(_ number: Int32) -> Bool {
    isOfForm(number) || [ENOENT, EACCES, EPERM, EOPNOTSUPP].contains(number)
  }

  /// Whether this error number means that no file on the file system can have such a name.
  static func isOfForm(_ number: Int32) -> Bool {
    number == EINVAL || number == ENAMETOOLONG || number == EILSEQ
  }
}

// Notes that cannot be put into the folder: notes-merge(7), "Notes that are left out of the
// folder".
extension WorkTree {
  /// The notes of the last version that are not in the folder because something prevents it, with the
  /// reasons; by path.
  public func absentFiles() throws -> [SkippedFile] {
    let index = try indexFile()
    if index.sparsePositions.isEmpty { return [] }
    let absences = try Absences(in: self, index)
    return try index.sparsePositions.map { index[$0].path }.compactMap { path in
      try absences.reason(for: path).map { SkippedFile(path: path, reason: $0) }
    }
  }

  /// The paths of the versioned files that the folder does not have.
  public func sparseFiles() throws -> [TreePath] { try absentFiles().map(\.path) }

  /// The reason why a versioned file is not in the folder; nil if it is there, or if nothing keeps
  /// it out.
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

/// The reasons why notes with the skip-worktree bit are not in the folder.
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
      // Git also sets the bit for files that are in the folder.
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

/// The abilities of a notebook's file system, found by trials.
public struct FileSystemAbilities: Hashable, Sendable {
  /// Whether two files can be swapped in one step, renameat2(2): how a checkout replaces a note.
  public let swapsFiles: Bool
  /// Whether leases show that a program has a file open, fcntl(2): how late saves are noticed.
  public let hasLeases: Bool
  /// Whether names that differ by case name different files.
  public let tellsCaseApart: Bool
  /// Whether names that differ only by Unicode form name different files.
  public let tellsFormsApart: Bool
  /// The number of bytes that this user can still write.
  public let freeBytes: Int
}

extension WorkTree {
  /// The number of bytes that this user can still write on the notes' file system.
  package func freeBytes() throws -> Int { try Disk.freeBytes(at: folder) }

  /// Tests the file system's abilities, in the state folder.
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
