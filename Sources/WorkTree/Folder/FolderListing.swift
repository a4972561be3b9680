package import Git
internal import Glibc
internal import System

/// The names in a notebook's folder, at every depth, as the folders list them; no file's status has
/// been read.
package struct FolderListing {
  // The paths of all entries except folders, one after the other, and the end of each: separate values would
  // use three times the memory.
  private var paths: [UInt8] = []
  private var ends: [Int] = []
  package private(set) var skipped: [SkippedFile] = []
  private(set) var folders: [TreePath] = []
  /// Folders that the ignore rules leave out, with everything in them.
  private(set) var excluded: [TreePath] = []
  /// For each folder, the range of its files.
  private(set) var filesByFolder: [Range<Int>] = []
  /// Whether any folder has a `.gitignore`.
  package private(set) var hasIgnoreFile = false
  /// The folders that have a `.gitattributes`.
  private(set) var attributesFolders: [TreePath] = []

  /// The paths of all entries except folders, in no order.
  package var files: [TreePath] { files(ends.indices) }

  func files(_ range: Range<Int>) -> [TreePath] {
    range.map { TreePath(bytes: paths[($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0]]) }
  }

  /// Lists the whole folder, or everything below `top`.
  ///
  /// - Parameter isExcluded: whether the ignore rules leave a folder out.
  package init(
    folder: String, below top: TreePath = "",
    isExcluded: (TreePath, _ hasIgnoreFile: Bool) throws -> Bool
  ) throws {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    // The paths of folders still to visit. There is no recursion and there are no open folders, so neither
    // depth nor breadth reaches a limit.
    var pending = [top]
    while let path = pending.popLast() {
      if try !path.isEmpty && isExcluded(path, hasIgnoreFile) {
        excluded.append(path)
        continue
      }
      pending += try list(path, root: root)
    }
  }

  private mutating func list(_ folder: TreePath, root: Int32) throws -> [TreePath] {
    let descriptor = Counted.openat(
      root, folder.cString, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      // The folder was removed since it was listed: this counts as if it had been deleted a moment
      // earlier.
      if errno != ENOENT {
        skipped.append(SkippedFile(path: folder, reason: .unreadable(errno: errno)))
      }
      return []
    }
    let (fileCount, size) = (ends.count, paths.count)
    let prefix = folder.isEmpty ? [] : folder.bytes + [UInt8(ascii: "/")]
    var folders: [TreePath] = []
    var signs: RepositorySigns = []
    func leaveOut(_ reason: SkipReason) -> [TreePath] {
      ends.removeSubrange(fileCount...)
      paths.removeSubrange(size...)
      skipped.append(SkippedFile(path: folder, reason: reason))
      return []
    }
    do {
      try Disk.list(takingOwnership: descriptor, path: folder.description) { entry in
        let start = paths.count
        paths += prefix
        entry.appendName(to: &paths)
        let isGit = Self.isGitFolder(paths[(start + prefix.count)...])
        signs.formUnion(RepositorySigns(name: paths[(start + prefix.count)...]))
        if !isGit, !entry.isFolder {
          if paths[(start + prefix.count)...].elementsEqual(Self.ignoreFile) {
            hasIgnoreFile = true
          }
          if paths[(start + prefix.count)...].elementsEqual(Self.attributesFile) {
            attributesFolders.append(folder)
          }
          ends.append(paths.count)
          return
        }
        let path = TreePath(bytes: paths[start...])
        paths.removeSubrange(start...)
        if !isGit {
          folders.append(path)
        } else if !folder.isEmpty {
          // Any spelling of `.git` counts: on some systems git treats each of them as its own folder.
          signs.insert(.repository)
        } else if !Self.gitFolders.contains(path), let why = NameRules.problem(withPath: path) {
          skipped.append(SkippedFile(path: path, reason: .unfitName(why: why)))
        }
      }
    } catch {
      // Reading a folder can fail halfway, for instance on a failing disk.
      guard !folder.isEmpty, case .file(_, _, let errno) = error else { throw error }
      return leaveOut(.unreadable(errno: errno))
    }
    if !folder.isEmpty, signs.tellRepository(folder, at: root) {
      // A separate repository: its files do not belong to this notebook.
      return leaveOut(.nestedRepository)
    }
    self.folders.append(folder)
    filesByFolder.append(fileCount..<ends.count)
    return folders
  }

  private static let ignoreFile = Array(".gitignore".utf8)
  private static let attributesFile = Array(".gitattributes".utf8)

  /// The names of a repository's folder, and of one that is being made (`Repository.create`).
  static let gitFolders: [TreePath] = [".git", ".git.new"]

  /// Whether git would treat the name as its own folder (on any system: `.GIT` too), or it is the
  /// temporary name of such a folder.
  private static func isGitFolder(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.count == 4 || name.count == 8 else { return false }
    return gitFolders.contains(TreePath(String(decoding: name, as: UTF8.self).lowercased()))
  }
}
