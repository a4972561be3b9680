package import Git
package import Glibc
package import System

/// File operations below a notebook's folder that never leave it. Each component of a path is opened without
/// following links, so a link in the folder cannot redirect a write.
package final class FolderAccess {
  let root: Int32
  /// Whether names that differ by case may be the same: then `.GIT` finds git's folder.
  private(set) lazy var foldsNames = Counted.faccessat(root, ".GIT", F_OK, AT_SYMLINK_NOFOLLOW) == 0
  /// Folders that are known to be listed with exactly this spelling.
  var listed: Set<TreePath> = []

  /// Whether the last opened folder stays open for the next call. Code that handles thousands of files in the
  /// order of their paths then opens each folder once.
  var keepsOpen = false { didSet { if !keepsOpen { kept = nil } } }
  private var kept: OpenFolder?

  /// A folder that is closed when its last user releases it.
  private final class OpenFolder {
    let path: TreePath
    let descriptor: Int32

    init(_ path: TreePath, takingOwnership descriptor: Int32) {
      (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Whether the folder still exists.
    var isThere: Bool {
      var status = stat()
      return Counted.fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }
  }

  package init(folder: String) throws { root = try Disk.open(folder, O_RDONLY | O_DIRECTORY) }

  deinit { close(root) }

  /// Calls `body` with a descriptor of the folder that `path` is in, and the path's last name.
  ///
  /// - Parameter create: whether to make missing folders.
  /// - Returns: nil if `create` is false and a folder on the way is missing or is not a folder.
  /// - Throws: `obstructed` if `create` is true and something else has a folder's name.
  package func withParent<Result>(
    of path: TreePath, create: Bool, _ body: (Int32, [CChar]) throws -> Result
  ) throws -> Result? {
    try withFolder(path.parent ?? "", of: path, create: create) { try body($0, path.name.cString) }
  }

  /// Calls `body` with a descriptor of `folder`. Errors of system calls name `failing`, or `file` if
  /// that is nil.
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

  /// Writes a file that must not exist yet, and the folders it is in, with a modification time in
  /// seconds since 1970. Does not wait for the disk.
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

  /// The status of the file at `path`, without following a link; nil if nothing is there.
  package func status(of path: TreePath) throws -> stat? {
    let found: stat?? = try withParent(of: path, create: false) { parent, name in
      var status = stat()
      if Counted.fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
      if errno == ENOENT || errno == ENOTDIR || Self.isOfForm(errno) { return nil }
      throw WorkTreeError.file(call: "stat", path: path.description, errno: errno)
    }
    return found ?? nil
  }

  /// The folder around `path` that is a separate repository, or is about to become one; nil if there
  /// is none besides the notebook.
  func repository(around path: TreePath) -> TreePath? {
    path.ancestors.last(where: isRepository)
  }

  func isRepository(_ folder: TreePath) -> Bool {
    RepositorySigns(of: folder, at: root).tellRepository(folder, at: root)
  }

  /// Lists a folder's entries; nothing if there is no folder.
  package func list(_ folder: TreePath, _ body: (FolderEntry) -> Void) throws {
    _ = try withFolder(folder, of: folder) { descriptor in
      // Opens the folder again: a duplicate of the descriptor would share its position in the
      // listing.
      let own = Counted.openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard own >= 0 else {
        throw WorkTreeError.file(call: "open", path: folder.description, errno: errno)
      }
      try Disk.list(takingOwnership: own, path: folder.description) { body($0) }
    }
  }

  /// Removes the folders above `path` that are empty now.
  package func removeEmptyFolders(above path: TreePath) {
    // A folder above a remaining folder is not empty.
    _ = path.ancestors.first { (try? removeEmptyFolder($0)) != true }
  }

  /// Removes the folder at `path`; returns false if it is not a folder, or not empty.
  func removeEmptyFolder(_ path: TreePath) throws -> Bool {
    try withParent(of: path, create: false) { parent, name in
      unlinkat(parent, name, AT_REMOVEDIR) == 0
    } ?? false
  }
}

extension TreePath {
  /// The path for system calls, relative to the notebook's folder.
  package var cString: [CChar] {
    let path = isEmpty ? [UInt8(ascii: ".")] : bytes
    var string: [CChar] = []
    string.reserveCapacity(path.count + 1)
    for byte in path { string.append(CChar(bitPattern: byte)) }
    string.append(0)
    return string
  }
}
