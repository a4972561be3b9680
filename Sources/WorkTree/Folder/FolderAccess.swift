package import Git
package import Glibc
package import System

/// File operations below a notebook's folder that never leave it: each component is opened without
/// following links, so that a link in the folder can't lead a write elsewhere.
package final class FolderAccess {
  let root: Int32
  /// Whether names that differ by case may be one: then git's folder has this name, too.
  private(set) lazy var foldsNames = Counted.faccessat(root, ".GIT", F_OK, AT_SYMLINK_NOFOLLOW) == 0
  /// Folders that are there as they are written, as far as that was looked at.
  var listed: Set<TreePath> = []

  /// Whether the folder that was opened last stays open for whoever wants it next: what goes through
  /// thousands of files by path opens each folder once.
  var keepsOpen = false { didSet { if !keepsOpen { kept = nil } } }
  private var kept: OpenFolder?

  /// A folder that is closed when nobody uses it any more.
  private final class OpenFolder {
    let path: TreePath
    let descriptor: Int32

    init(_ path: TreePath, takingOwnership descriptor: Int32) {
      (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Whether it has not been removed since it was opened.
    var isThere: Bool {
      var status = stat()
      return Counted.fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }
  }

  package init(folder: String) throws { root = try Disk.open(folder, O_RDONLY | O_DIRECTORY) }

  deinit { close(root) }

  /// Calls `body` with a descriptor of the folder that `path` is in and the path's last name.
  ///
  /// - Parameter create: make folders that are missing.
  /// - Returns: nil when a folder on the way is missing, or none, and not to be made.
  /// - Throws: `obstructed` when it is to be made, and something else has its name.
  package func withParent<Result>(
    of path: TreePath, create: Bool, _ body: (Int32, [CChar]) throws -> Result
  ) throws -> Result? {
    try withFolder(path.parent ?? "", of: path, create: create) { try body($0, path.name.cString) }
  }

  /// Calls `body` with a descriptor of the folder that `file` is in. Errors of calls name `failing`, or
  /// the file.
  func withFolder<Result>(
    _ folder: TreePath, of file: TreePath, failing: TreePath? = nil, create: Bool = false,
    _ body: (Int32) throws -> Result
  ) throws -> Result? {
    func failed(_ call: String) -> WorkTreeError {
      .file(call: call, path: (failing ?? file).description, errno: errno)
    }
    if let kept, kept.path == folder, kept.isThere {
      return try withExtendedLifetime(kept) { try body(kept.descriptor) }
    }
    var current = dup(root)
    guard current >= 0 else { throw failed("dup") }
    var isKept = false
    defer { if !isKept { close(current) } }
    for name in folder.components.map(\.cString) {
      if create, mkdirat(current, name, 0o777) != 0, errno != EEXIST { throw failed("mkdir") }
      let next = Counted.openat(current, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else {
        let isNoFolder = errno == ENOTDIR || errno == ELOOP
        if !create, isNoFolder || errno == ENOENT || Self.isOfForm(errno) { return nil }
        if isNoFolder { throw WorkTreeError.obstructed(path: file.description) }
        throw failed("open")
      }
      close(current)
      current = next
    }
    guard keepsOpen else { return try body(current) }
    let opened = OpenFolder(folder, takingOwnership: current)
    (kept, isKept) = (opened, true)
    return try withExtendedLifetime(opened) { try body(opened.descriptor) }
  }

  /// Writes a file that must not be there, with the folders it is in, as last written at a time in
  /// seconds since 1970. It is not waited for.
  package func create(_ path: TreePath, _ content: [UInt8], modified: Int64) throws {
    func failed(_ call: String) -> WorkTreeError {
      .file(call: call, path: path.description, errno: errno)
    }
    _ = try withParent(of: path, create: true) { parent, name in
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let file = Counted.openat(parent, name, flags, 0o666)
      guard file >= 0 else { throw failed("open") }
      defer { close(file) }
      try Disk.write(content, to: file, path: path.description)
      let time = timespec(tv_sec: Int(modified), tv_nsec: 0)
      if futimens(file, [time, time]) != 0 { throw failed("utimensat") }
    }
  }

  /// The status of what stands at `path` itself, or nil when nothing does.
  package func status(of path: TreePath) throws -> stat? {
    let found: stat?? = try withParent(of: path, create: false) { parent, name in
      var status = stat()
      if Counted.fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
      if errno == ENOENT || errno == ENOTDIR || Self.isOfForm(errno) { return nil }
      throw WorkTreeError.file(call: "stat", path: path.description, errno: errno)
    }
    return found ?? nil
  }

  /// The folder that `path` is in and that is a repository of its own, or is about to become one; nil
  /// where the notebook is the only one.
  func repository(around path: TreePath) -> TreePath? {
    path.ancestors.last(where: isRepository)
  }

  func isRepository(_ folder: TreePath) -> Bool {
    RepositorySigns(of: folder, at: root).tellRepository(folder, at: root)
  }

  /// Lists a folder's entries; none if there is no folder.
  package func list(_ folder: TreePath, _ body: (FolderEntry) -> Void) throws {
    _ = try withFolder(folder, of: folder) { descriptor in
      // Not a duplicate, which would share the place in the listing.
      let own = Counted.openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard own >= 0 else {
        throw WorkTreeError.file(call: "open", path: folder.description, errno: errno)
      }
      try Disk.list(takingOwnership: own, path: folder.description) { body($0) }
    }
  }

  /// Removes the folders above `path` that are empty now.
  package func removeEmptyFolders(above path: TreePath) {
    // A folder that stays holds no note.
    _ = path.ancestors.first { (try? removeEmptyFolder($0)) != true }
  }

  /// Removes the folder at `path`; false when it is none, or is not empty.
  func removeEmptyFolder(_ path: TreePath) throws -> Bool {
    try withParent(of: path, create: false) { parent, name in
      unlinkat(parent, name, AT_REMOVEDIR) == 0
    } ?? false
  }
}

extension TreePath {
  /// The path as calls of the system take it, seen from the notebook's folder.
  package var cString: [CChar] {
    let path = isEmpty ? [UInt8(ascii: ".")] : bytes
    var string: [CChar] = []
    string.reserveCapacity(path.count + 1)
    for byte in path { string.append(CChar(bitPattern: byte)) }
    string.append(0)
    return string
  }
}
