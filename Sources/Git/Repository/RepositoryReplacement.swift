internal import CLinux
internal import Glibc
internal import State
internal import System

/// A repository that is made beside another one, as `.git.new`, and replaces it in one step. Other programs
/// find the old one or the new one, complete. A killed run leaves only that folder, which the next run removes.
/// notes-forget(1), "On the disk".
package final class RepositoryReplacement {
  /// The new repository, complete only at the end.
  package let new: Repository
  private let old: Repository
  private let place: String
  private var locks: [String] = []
  private var isDone = false

  /// The git files that are kept unchanged.
  private static let kept = ["config", "description", "hooks", "info/exclude", "info/attributes"]
  /// The files that a replacement copies or makes again, or that describe a moment in the past:
  /// gitrepository-layout(5).
  private static let dropped: Set<String> = [
    "config", "description", "hooks", "info", "HEAD", "objects", "refs", "logs", "packed-refs",
    "index", "notes", "branches", "ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE", "COMMIT_EDITMSG",
    "TAG_EDITMSG", "MERGE_MSG", "MERGE_RR", "SQUASH_MSG", "gc.log", "gc.pid", "rr-cache",
    "lost-found", "filter-repo", "index.lock", "HEAD.lock", "packed-refs.lock", "config.lock",
  ]

  /// Begins a replacement. While it exists, git's locks prevent changes to the old repository.
  ///
  /// - Throws: `irreplaceable` if something would be lost, `locked` while git is running.
  package init(of repository: Repository) throws {
    old = repository
    place = repository.folder + "/.git.new"
    new = repository.replacement(at: place)
    try Self.check(repository)
    try repository.removeHalfMade()
    for name in ["index", "HEAD", "packed-refs", "config"] {
      let path = "\(repository.gitFolder)/\(name).lock"
      try lock(path, named: "\(name).lock")
    }
    try makeFolders()
  }

  private func lock(_ path: String, named name: String) throws {
    let descriptor = Counted.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw GitError.locked(name) }
      throw GitError.system(call: "open", path: path, errno: errno)
    }
    close(descriptor)
    locks.append(path)
  }

  deinit { if !isDone { end() } }

  private func end() {
    Disk.removeTree(place)
    unlock()
  }

  private func unlock() {
    for path in locks { unlink(path) }
    locks = []
  }

  private static func check(_ repository: Repository) throws {
    var status = stat()
    guard Counted.lstat(repository.gitFolder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
    else { throw GitError.irreplaceable("'.git' is not a folder") }
    for name in try Disk.names(in: repository.gitFolder)
    where !dropped.contains(name) && !name.hasPrefix("sharedindex.") && !name.hasPrefix("gc.pid") {
      let path = repository.gitFolder + "/" + name
      if ["worktrees", "modules"].contains(name), Disk.namesIfAny(in: path).isEmpty { continue }
      throw GitError.irreplaceable("'.git/\(name)' is not known to notes")
    }
    if Counted.access(repository.gitFolder + "/objects/info/alternates", F_OK) == 0 {
      throw GitError.irreplaceable("it borrows objects (.git/objects/info/alternates)")
    }
  }

  private func makeFolders() throws {
    var status = stat()
    guard Counted.lstat(old.gitFolder, &status) == 0 else {
      throw GitError.system(call: "stat", path: old.gitFolder, errno: errno)
    }
    try Disk.makeFolder(place, mode: 0o700)
    for folder in [
      "info", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags",
    ] {
      try Disk.makeFolder(place + "/" + folder, mode: 0o777)
    }
    for name in Self.kept { try copy(name) }
    var inner = stat()
    let state = old.stateFolder.path
    guard Counted.lstat(state, &inner) == 0 else {
      throw GitError.system(call: "stat", path: state, errno: errno)
    }
    try Disk.makeFolder(new.stateFolder.path, mode: inner.st_mode & 0o777)
    chmod(place, status.st_mode & 0o7777)
  }

  // MARK: The parts of the new repository

  /// Copies a file or folder of the old repository, if it exists.
  package func copy(_ name: String) throws {
    let source = old.gitFolder + "/" + name
    let target = place + "/" + name
    var status = stat()
    guard Counted.lstat(source, &status) == 0 else {
      if errno == ENOENT { return }
      throw GitError.system(call: "stat", path: source, errno: errno)
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      try Disk.makeFolder(target, mode: status.st_mode & 0o777)
      for inner in try Disk.names(in: source) { try copy(name + "/" + inner) }
    case S_IFREG:
      try Disk.create(
        target, Disk.read(source), mode: status.st_mode & 0o777, waits: false)
      let times = [status.st_atim, status.st_mtim]
      utimensat(AT_FDCWD, target, times, AT_SYMLINK_NOFOLLOW)
    case S_IFLNK:
      var link = [CChar](repeating: 0, count: 4_096)
      guard readlink(source, &link, link.count - 1) > 0, symlink(link, target) == 0 else {
        throw GitError.system(call: "symlink", path: target, errno: errno)
      }
    default: break
    }
  }

  /// Gives the new repository a hard link to a file of the old one, if it exists.
  package func link(_ name: String) throws {
    let target = place + "/" + name
    if Glibc.link(old.gitFolder + "/" + name, target) == 0 || errno == ENOENT { return }
    throw GitError.system(call: "link", path: target, errno: errno)
  }

  /// Writes a file.
  package func write(_ name: String, _ content: [UInt8], mode: UInt32 = 0o666) throws {
    let path = place + "/" + name
    try Disk.makeFolders(Disk.parent(of: path))
    try Disk.create(path, content, mode: mode, waits: false)
  }

  /// Puts everything reachable from these commits into one pack, with deltas.
  package func pack(_ roots: [ObjectID], progress: (_ done: Int, _ of: Int) -> Void) throws {
    if roots.isEmpty { return }
    let writer = try old.pack(wants: roots, haves: [])
    let pack = try ReceivedPack(in: new.packFolder, for: old, limits: .own)
    while let piece = try writer.next() {
      try piece.withUnsafeBytes { try pack.append($0) }
      progress(writer.objectsWritten, writer.objectCount)
    }
    _ = try pack.finish()
  }

  // MARK: Checking the result

  // `isLeft` returns whether forgotten bytes, or IDs of objects with them, are left. Both functions throw
  // `irreplaceable` with the place if something is left.

  /// Reads all objects of the new repository: each must be intact and refer only to existing objects, and no
  /// forgotten content may be left.
  package func checkObjects(
    isLeft: ([UInt8]) -> Bool, gone: Set<ObjectID>, progress: (_ done: Int, _ of: Int) -> Void
  ) throws {
    var ids: [ObjectID] = []
    for name in Disk.namesIfAny(in: new.packFolder) where name.hasSuffix(".idx") {
      guard let index = PackIndexFile(new.packFolder + "/" + name) else {
        throw PackError.malformed("its index is damaged")
      }
      // Read in the order of the pack: each delta is then near its base.
      ids += (0..<index.count).map { (index.offset(at: $0) ?? 0, index.id(at: $0)) }
        .sorted { $0.0 < $1.0 }.map(\.1)
    }
    let all = Set(ids)
    func check(_ named: ObjectID) throws {
      if named != .emptyTree, !all.contains(named) { throw GitError.missing(named) }
    }
    /// The tree that was checked before this one; its entries need no second check.
    var former: [UInt8] = []
    for (position, id) in ids.enumerated() {
      if gone.contains(id) { throw GitError.irreplaceable("object \(id) would remain") }
      let (kind, data) = try new.object(id)
      switch kind {
      case .commit:
        let headers = try CommitHeaders(parsing: data, id: id)
        for named in [headers.tree] + headers.parents { try check(named) }
      case .tree:
        let isWellFormed = try TreeBytes.compare(former, data) { _, entry in
          if let entry { try check(entry.id) }
        }
        guard isWellFormed else { throw GitError.malformed(id, "a damaged tree") }
        former = data
      case .blob, .tag: break
      }
      if kind != .tree, isLeft(data) {
        throw GitError.irreplaceable("\(kind) \(id) would still contain it")
      }
      if position % 500 == 0 { progress(position, ids.count) }
    }
  }

  /// Reads all other files of the new repository.
  package func checkFiles(isLeft: ([UInt8]) -> Bool, gone: Set<ObjectID>) throws {
    try checkFiles(below: "", isLeft, gone)
  }

  private func checkFiles(
    below folder: String, _ isLeft: ([UInt8]) -> Bool, _ gone: Set<ObjectID>
  ) throws {
    for name in try Disk.names(in: place + folder) {
      let path = folder + "/" + name
      if path == "/objects" { continue }
      var status = stat()
      guard Counted.lstat(place + path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { try checkFiles(below: path, isLeft, gone) }
      guard status.st_mode & S_IFMT == S_IFREG else { continue }
      let content = try Disk.read(place + path)
      if isLeft(content) || Self.names(content, anyOf: gone) {
        throw GitError.irreplaceable(
          "'.git\(path)' contains it, or names an object that contained "
            + "it")
      }
    }
  }

  /// Whether bytes contain one of these IDs, in binary form or in hexadecimal digits.
  private static func names(_ content: [UInt8], anyOf ids: Set<ObjectID>) -> Bool {
    guard !ids.isEmpty, content.count >= ObjectID.byteCount else { return false }
    // Comparing two bytes first rules out most positions.
    var beginnings = [Bool](repeating: false, count: 1 << 16)
    for id in ids { beginnings[Int(id.bytes[0]) << 8 | Int(id.bytes[1])] = true }
    for start in 0...(content.count - ObjectID.byteCount)
    where beginnings[Int(content[start]) << 8 | Int(content[start + 1])] {
      let bytes = Array(content[start..<(start + ObjectID.byteCount)])
      if let id = ObjectID(bytes: bytes), ids.contains(id) { return true }
    }
    let digits = 2 * ObjectID.byteCount
    var length = 0
    for (position, byte) in content.enumerated() {
      length = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) ? length + 1 : 0
      guard length >= digits else { continue }
      let text = content[(position - digits + 1)...position]
      if let id = ObjectID(hex: text), ids.contains(id) { return true }
    }
    return false
  }

  // MARK: The step

  /// Replaces the old repository by the new one, durably, and removes the old one.
  ///
  /// - Throws: `irreplaceable` if the file system cannot swap two folders; then nothing has changed.
  package func swap() throws {
    try Disk.syncFileSystem(of: place)
    guard
      notes_renameat2(AT_FDCWD, place, AT_FDCWD, old.gitFolder, UInt32(NOTES_RENAME_EXCHANGE)) == 0
    else {
      if [EINVAL, ENOSYS, ENOTSUP, EXDEV, EBUSY].contains(errno) {
        throw GitError.irreplaceable(
          "this file system cannot swap two folders")
      }
      throw GitError.system(call: "rename", path: old.gitFolder, errno: errno)
    }
    isDone = true
    try Disk.sync(folder: old.folder)
    old.close()
    // It contains the locks. If something cannot be removed now, the next command removes it.
    Disk.removeTree(place)
    if Counted.access(place, F_OK) == 0 { Disk.removeTree(place) }
    if Counted.access(place, F_OK) == 0 {
      throw GitError.system(call: "rmdir", path: place, errno: ENOTEMPTY)
    }
    try Disk.sync(folder: old.folder)
  }
}
