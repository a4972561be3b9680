package import Git
internal import Glibc
internal import System

/// The names in a notebook's folder, at every depth, as the folders list them: nothing has been
/// looked at yet.
package struct FolderListing {
  /// The paths of all that is no folder, in no order.
  package private(set) var files: [TreePath] = []
  package private(set) var skipped: [SkippedFile] = []
  private(set) var folders: [TreePath] = []
  /// Which of the files each folder has.
  private(set) var filesByFolder: [Range<Int>] = []
  /// Whether any folder has a `.gitignore`.
  package private(set) var hasIgnoreFile = false

  /// Lists all of the folder, or what is below `top`.
  ///
  /// - Parameter isExcluded: whether the ignore rules leave a folder out.
  package init(
    folder: String, below top: TreePath = "",
    isExcluded: (TreePath, _ hasIgnoreFile: Bool) throws -> Bool
  ) throws {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    // Paths of folders still to visit: no recursion and no open folders, so that neither depth nor
    // breadth runs into a limit.
    var pending = [top]
    while let path = pending.popLast() {
      if try !path.isEmpty && isExcluded(path, hasIgnoreFile) { continue }
      pending += try list(path, root: root)
    }
  }

  private mutating func list(_ folder: TreePath, root: Int32) throws -> [TreePath] {
    let descriptor = openat(root, folder.cString, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Gone since it was listed: as if it had been deleted a moment earlier.
      if errno != ENOENT {
        skipped.append(SkippedFile(path: folder, reason: .unreadable(errno: errno)))
      }
      return []
    }
    let fileCount = files.count
    let prefix = folder.isEmpty ? [] : folder.bytes + [UInt8(ascii: "/")]
    var folders: [TreePath] = []
    var isRepository = false
    try Disk.list(takingOwnership: descriptor, path: folder.description) { entry in
      let path = TreePath(bytes: entry.path(below: prefix))
      let name = path.bytes.dropFirst(prefix.count)
      if Self.isGitFolder(name) {
        if !folder.isEmpty {
          isRepository = true
        } else if path != ".git", let why = NameRules.problem(withPath: path) {
          skipped.append(SkippedFile(path: path, reason: .unfitName(why: why)))
        }
      } else if entry.isFolder {
        folders.append(path)
      } else {
        if name.elementsEqual(Self.ignoreFile) { hasIgnoreFile = true }
        files.append(path)
      }
    }
    if isRepository {
      // A repository of its own: its files are not this one's.
      files.removeSubrange(fileCount...)
      skipped.append(SkippedFile(path: folder, reason: .nestedRepository))
      return []
    }
    self.folders.append(folder)
    filesByFolder.append(fileCount..<files.count)
    return folders
  }

  private static let ignoreFile = Array(".gitignore".utf8)

  /// Whether git would take the name for its own folder (on any system: `.GIT` too).
  private static func isGitFolder(_ name: ArraySlice<UInt8>) -> Bool {
    name.count == 4 && String(decoding: name, as: UTF8.self).lowercased() == ".git"
  }
}
