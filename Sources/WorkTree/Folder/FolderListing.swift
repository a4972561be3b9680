internal import CLinux
package import Git
internal import Glibc

/// The names in a notebook's folder, at every depth, as the folders list them: nothing has been
/// looked at yet.
package struct FolderListing {
  /// A name that is not a folder's.
  package struct Item {
    fileprivate let start: UInt32
    fileprivate let length: UInt32
  }

  package private(set) var items: [Item] = []
  package private(set) var skipped: [SkippedFile] = []
  /// The folders that were listed.
  private(set) var folders: [TreePath] = []
  /// Which of the index's folders, by number, hold what it has in them and nothing else; their items
  /// are left out.
  private(set) var unchangedFolders: [Bool] = []
  /// Whether any folder has a `.gitignore`.
  package private(set) var hasIgnoreFile = false
  /// The paths of the items, each with a NUL after it.
  private var paths: [UInt8] = []

  /// An item's path with a NUL after it.
  package func withPath<Result>(
    of item: Item, _ body: (UnsafePointer<CChar>, UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try paths.withUnsafeBytes { bytes in
      let start = Int(item.start)
      let path = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(item.length))])
      let text = bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
      // An item's path is never empty, so its buffer has an address.
      return try body(text.unsafelyUnwrapped, path)
    }
  }

  /// The paths of all items.
  package var allPaths: [TreePath] {
    items.map { item in withPath(of: item) { TreePath(bytes: $1) } }
  }

  /// Lists the folder.
  ///
  /// - Parameter top: only this folder in it, and what is below.
  /// - Parameter known: what the index has, where only what differs from it is wanted.
  /// - Parameter isExcluded: whether the ignore rules leave a folder out.
  init(
    folder: String, below top: TreePath = "", known: IndexFolders?,
    isExcluded: (TreePath, _ hasIgnoreFile: Bool) throws -> Bool
  ) throws {
    unchangedFolders = [Bool](repeating: false, count: known?.count ?? 0)
    let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw NotebookError.file(call: "open", path: folder, errno: errno) }
    defer { close(root) }
    // Paths of folders still to visit: no recursion and no open folders, so that neither depth nor
    // breadth runs into a limit.
    var pending = [top]
    while let path = pending.popLast() {
      if try !path.isEmpty && isExcluded(path, hasIgnoreFile) { continue }
      pending += try list(path, root: root, known: known)
    }
  }

  /// Lists all of the folder, or what is below `top`.
  ///
  /// - Parameter isExcluded: whether the ignore rules leave a folder out.
  package init(
    folder: String, below top: TreePath = "",
    isExcluded: (TreePath, _ hasIgnoreFile: Bool) throws -> Bool
  ) throws {
    try self.init(folder: folder, below: top, known: nil, isExcluded: isExcluded)
  }

  /// Lists one folder and returns the folders in it.
  private mutating func list(
    _ folder: TreePath, root: Int32, known: IndexFolders?
  ) throws -> [TreePath] {
    guard let stream = try openStream(of: folder, root: root) else { return [] }
    defer { closedir(stream) }
    let before = (items: items.count, paths: paths.count)
    folders.append(folder)
    let prefix = folder.isEmpty ? [] : folder.bytes + [UInt8(ascii: "/")]
    var folders: [TreePath] = []
    var names = NameSet()
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else {
          throw NotebookError.file(call: "readdir", path: folder.description, errno: errno)
        }
        if let number = known?.folder(folder, holding: names) {
          unchangedFolders[number] = true
          removeItems(from: before)
        }
        return folders
      }
      let name = entry.nameBytes
      if name.isName(".") || name.isName("..") { continue }
      if name.isGitFolder {
        if folder.isEmpty {
          let path = TreePath(bytes: [UInt8](name))
          if !name.isName(".git"), let why = NameRules.problem(withPath: path) {
            skipped.append(SkippedFile(path: path, reason: .unfitName(why: why)))
          }
          continue
        }
        // A repository of its own: its files are not this one's.
        removeItems(from: before)
        skipped.append(SkippedFile(path: folder, reason: .nestedRepository))
        self.folders.removeLast()
        return []
      }
      if name.isName(".gitignore") { hasIgnoreFile = true }
      if entry.isFolder(in: dirfd(stream)) {
        folders.append(TreePath(bytes: prefix + name))
        continue
      }
      if let known { names.insert(name, known.hash) }
      let start = paths.count
      paths += prefix
      paths += name
      items.append(Item(start: UInt32(start), length: UInt32(paths.count - start)))
      paths.append(0)
    }
  }

  /// Opens a folder to list it; nil when it cannot be, which is noted unless it is gone.
  private mutating func openStream(of folder: TreePath, root: Int32) throws -> OpaquePointer? {
    let name = folder.isEmpty ? [UInt8(ascii: ".")] : folder.bytes
    let descriptor = openat(
      root, name.map { CChar(bitPattern: $0) } + [0],
      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Gone since it was listed: as if it had been deleted a moment earlier.
      if errno != ENOENT {
        skipped.append(SkippedFile(path: folder, reason: .unreadable(errno: errno)))
      }
      return nil
    }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw NotebookError.file(call: "fdopendir", path: folder.description, errno: errno)
    }
    return stream
  }

  private mutating func removeItems(from start: (items: Int, paths: Int)) {
    items.removeSubrange(start.items...)
    paths.removeSubrange(start.paths...)
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func isName(_ name: StaticString) -> Bool {
    isEqual(to: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// Whether git would take the name for its own folder (on any system: `.GIT` too).
  fileprivate var isGitFolder: Bool {
    count == 4 && self[0] == UInt8(ascii: ".") && self[1] | 0x20 == UInt8(ascii: "g")
      && self[2] | 0x20 == UInt8(ascii: "i") && self[3] | 0x20 == UInt8(ascii: "t")
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
  package var nameBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: namePointer, count: strlen(namePointer))
  }

  fileprivate func isFolder(in folder: Int32) -> Bool {
    switch Int32(pointee.d_type) {
    case 4: return true  // DT_DIR
    case 0:  // DT_UNKNOWN: a file system that does not say
      var status = stat()
      return fstatat(folder, namePointer, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
    default: return false
    }
  }
}
