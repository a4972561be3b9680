internal import Git
internal import Glibc

/// A file that a scan found.
struct ScannedFile {
  let path: TreePath
  let status: FileStatus
  let mode: FileMode
  let size: Int
}

/// What is in a notebook's folder: every file that could be versioned, and what was passed over.
struct FolderScan {
  private(set) var files: [ScannedFile] = []
  private(set) var skipped: [SkippedFile] = []

  private let sizeLimit: Int
  private let tracked: [IndexEntry]
  private let rules: IgnoreRules

  /// Walks the folder.
  ///
  /// - Parameters:
  ///   - tracked: the index's entries by path: such a file is never debris nor ignored.
  ///   - rules: what leaves out other files.
  init(folder: String, sizeLimit: Int, tracked: [IndexEntry], rules: IgnoreRules) throws {
    self.sizeLimit = sizeLimit
    self.tracked = tracked
    self.rules = rules
    let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
    defer { close(root) }
    // Paths of folders still to visit: no recursion and no open folders, so that neither depth nor
    // breadth runs into a limit.
    var pending = [TreePath("")]
    while let path = pending.popLast() { pending += try visit(path, root: root) }
    files.sort { $0.path < $1.path }
    skipped.sort { $0.path < $1.path }
  }

  /// Looks at one folder and returns the folders in it.
  private mutating func visit(_ folder: TreePath, root: Int32) throws -> [TreePath] {
    let name = folder.isEmpty ? [UInt8(ascii: ".")] : folder.bytes
    let descriptor = openat(
      root, name.map { CChar(bitPattern: $0) } + [0],
      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno != ENOENT {
        skipped.append(SkippedFile(path: folder, reason: .unreadable(errno: errno)))
      }
      return []
    }
    if !folder.isEmpty, faccessat(descriptor, ".git", F_OK, 0) == 0 {
      close(descriptor)
      skipped.append(SkippedFile(path: folder, reason: .nestedRepository))
      return []
    }
    rules.enter(folder: descriptor)
    var folders: [TreePath] = []
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw NotebookError.file(call: "fdopendir", path: folder.description, errno: errno)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else {
          throw NotebookError.file(call: "readdir", path: folder.description, errno: errno)
        }
        return folders
      }
      let name = TreePath(bytes: entry.nameBytes)
      if name == "." || name == ".." || Self.isGitFolder(name) { continue }
      let path = folder.appending(name)
      var status = stat()
      guard fstatat(dirfd(stream), entry.namePointer, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        // Gone since it was listed: as if it had been deleted a moment earlier.
        if errno != ENOENT {
          skipped.append(SkippedFile(path: path, reason: .unreadable(errno: errno)))
        }
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG:
        if !tracked.containsPath(path) {
          if SkipRules.isDebris(name.bytes) { continue }
          if try rules.isIgnored(path, isFolder: false) { continue }
        }
        guard Int(status.st_size) <= sizeLimit else {
          skipped.append(SkippedFile(path: path, reason: .tooLarge(size: Int(status.st_size))))
          continue
        }
        files.append(
          ScannedFile(
            path: path, status: FileStatus(status),
            mode: status.st_mode & S_IXUSR != 0 ? .executable : .regular,
            size: Int(status.st_size)))
      case S_IFDIR:
        if try !tracked.containsFolder(path) && rules.isIgnored(path, isFolder: true) { continue }
        folders.append(path)
      case S_IFLNK: skipped.append(SkippedFile(path: path, reason: .symbolicLink))
      default: skipped.append(SkippedFile(path: path, reason: .specialFile))
      }
    }
  }

  /// Whether git would take the name for its own folder (on any system: `.GIT` too).
  private static func isGitFolder(_ name: TreePath) -> Bool {
    name.bytes.count == 4
      && zip(name.bytes, ".git".utf8).allSatisfy { $0 | ($1 == UInt8(ascii: ".") ? 0 : 0x20) == $1 }
  }
}

extension UnsafeMutablePointer<dirent> {
  /// The entry's name as a C string inside the entry.
  var namePointer: UnsafePointer<CChar> {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    return UnsafePointer(
      UnsafeMutableRawPointer(self).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }

  /// The entry's name.
  var nameBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: namePointer, count: strlen(namePointer))
  }
}
