internal import CLinux
package import Git
package import Glibc

/// File operations below a notebook's folder that never leave it: each component is opened without
/// following links, so that a link in the folder can't lead a write elsewhere.
package final class FolderAccess {
  private let folder: String
  package let root: Int32
  /// Whether names that differ by case may be one: then git's folder has this name, too.
  private(set) lazy var foldsNames = faccessat(root, ".GIT", F_OK, AT_SYMLINK_NOFOLLOW) == 0
  /// Folders that are there as they are written, as far as that was looked at.
  var listed: Set<TreePath> = []

  package init(folder: String) throws {
    self.folder = folder
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
  }

  deinit { close(root) }

  /// Calls `body` with a descriptor of the folder that `path` is in and the path's last name.
  ///
  /// - Parameter create: make folders that are missing.
  /// - Returns: nil when a folder on the way is missing and not to be made.
  package func withParent<Result>(
    of path: TreePath, create: Bool, _ body: (Int32, UnsafePointer<CChar>) throws -> Result
  ) throws -> Result? {
    var current = dup(root)
    guard current >= 0 else { throw NotebookError.file(call: "dup", path: folder, errno: errno) }
    defer { close(current) }
    let components = path.components
    for name in components.dropLast() {
      let cName = name.bytes.map { CChar(bitPattern: $0) } + [0]
      if create, mkdirat(current, cName, 0o777) != 0, errno != EEXIST {
        throw NotebookError.file(call: "mkdir", path: path.description, errno: errno)
      }
      let next = openat(current, cName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else {
        switch errno {
        case let number where !create && (number == ENOENT || Self.isOfForm(number)): return nil
        case ENOTDIR, ELOOP: throw NotebookError.obstructed(path: path.description)
        default: throw NotebookError.file(call: "open", path: path.description, errno: errno)
        }
      }
      close(current)
      current = next
    }
    guard let name = components.last else { return nil }
    return try (name.bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      try buffer.baseAddress.map { try body(current, $0) }
    }
  }

  /// The status of what stands at `path` itself, or nil when nothing does.
  package func status(of path: TreePath) throws -> stat? {
    let found: stat?? = try withParent(of: path, create: false) { parent, name in
      var status = stat()
      guard fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        guard errno == ENOENT || errno == ENOTDIR || Self.isOfForm(errno) else {
          throw NotebookError.file(call: "stat", path: path.description, errno: errno)
        }
        return nil
      }
      return status
    }
    return found ?? nil
  }

  /// Removes the folders above `path` that are empty now.
  package func removeEmptyFolders(above path: TreePath) {
    var folder = path.parent
    while let current = folder, (try? removeEmptyFolder(current)) == true {
      folder = current.parent
    }
  }

  /// Removes the folder at `path`; false when it is none, or is not empty.
  func removeEmptyFolder(_ path: TreePath) throws -> Bool {
    try withParent(of: path, create: false) { parent, name in
      unlinkat(parent, name, AT_REMOVEDIR) == 0
    } ?? false
  }
}
