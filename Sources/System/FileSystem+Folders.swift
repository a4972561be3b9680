internal import CLinux
public import Glibc

/// An entry of a folder that is being listed; valid until the next entry.
public struct FolderEntry {
  fileprivate let entry: UnsafeMutablePointer<dirent>
  fileprivate let stream: OpaquePointer

  /// The bytes of the entry's name.
  public var name: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: strlen(start))) }

  /// Appends the name to a path.
  public func appendName(to path: inout [UInt8]) {
    path += UnsafeRawBufferPointer(start: start, count: strlen(start))
  }

  /// The inode number of the entry, if the file system has stable numbers: stat(2), st_ino.
  public var inode: UInt { entry.pointee.d_ino }

  /// Whether the entry is a folder, and not a link to one.
  public var isFolder: Bool {
    switch Int(entry.pointee.d_type) {
    case DT_DIR: return true
    case DT_UNKNOWN:
      // The file system does not report the type in the listing.
      var status = stat()
      return Counted.fstatat(dirfd(stream), start, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
    default: return false
    }
  }

  private var start: UnsafePointer<CChar> {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    return UnsafePointer(
      UnsafeMutableRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }

  // Whether the name is "." or "..".
  fileprivate var isDots: Bool {
    let dot = CChar(bitPattern: UInt8(ascii: "."))
    return start[0] == dot && (start[1] == 0 || start[1] == dot && start[2] == 0)
  }
}

extension FileSystem {
  /// The folder around a path.
  public static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes a folder if there is none.
  public static func makeFolder(_ path: String, mode: mode_t) throws(Failure) {
    if mkdir(path, mode) != 0, errno != EEXIST {
      throw .system(call: "mkdir", path: path, errno: errno)
    }
  }

  /// Makes a folder and its missing parents.
  public static func makeFolders(_ path: String, mode: mode_t = 0o777) throws(Failure) {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    if errno == ENOENT, parent(of: path) != path { try makeFolders(parent(of: path), mode: mode) }
    try makeFolder(path, mode: mode)
  }

  /// Makes a folder, and the missing folders between it and `root`. If `root` does not exist, this fails with
  /// ENOENT: in a notebook that was moved away or unmounted, new folders would prevent its return.
  public static func makeFolders(
    _ path: String, in root: String, mode: mode_t = 0o777
  ) throws(Failure) {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    let above = parent(of: path)
    if errno == ENOENT, above.hasPrefix(root + "/") {
      try makeFolders(above, in: root, mode: mode)
    }
    try makeFolder(path, mode: mode)
  }

  /// Waits until the names in a folder are on the disk.
  public static func sync(folder: String) throws(Failure) {
    try sync(file: folder, O_RDONLY | O_DIRECTORY)
  }

  /// Like `sync(folder:)`; returns false if the folder does not exist.
  public static func syncIfThere(folder: String) throws(Failure) -> Bool {
    let descriptor = Counted.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return false }
      throw .system(call: "open", path: folder, errno: errno)
    }
    defer { close(descriptor) }
    try sync(descriptor, path: folder)
    return true
  }

  /// Waits until everything on the file system that holds `folder` is on the disk.
  public static func syncFileSystem(of folder: String) throws(Failure) {
    let descriptor = try open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    if Counted.syncfs(descriptor) != 0 { throw .system(call: "syncfs", path: folder, errno: errno) }
  }

  /// The names in a folder, without "." and "..", in no particular order.
  public static func names(in folder: String) throws(Failure) -> [String] {
    var names: [String] = []
    try list(folder) { entry in names.append(String(decoding: entry.name, as: UTF8.self)) }
    return names
  }

  /// Like `names(in:)`; empty if the folder cannot be listed.
  public static func namesIfAny(in folder: String) -> [String] { (try? names(in: folder)) ?? [] }

  /// Makes a folder in `/tmp` that only this user can read, and that the caller removes.
  ///
  /// - Returns: its path, which ends with `notes-NAME-` and six letters.
  public static func makeTemporaryFolder(named name: String) throws(Failure) -> String {
    var template = Array("/tmp/notes-\(name)-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw .system(call: "mkdtemp", path: "/tmp", errno: errno)
    }
    return String(cString: made)
  }

  /// Removes a file that nothing reads any more. If that fails, the file does no harm, and the next
  /// caller tries again.
  public static func removeLeftover(_ path: String) { do { try remove(path) } catch {} }

  /// Removes a file, or a folder with everything in it; skips anything that cannot be removed.
  public static func removeTree(_ path: String) {
    // Files first: unlink refuses folders.
    if unlink(path) == 0 { return }
    for name in namesIfAny(in: path) { removeTree(path + "/" + name) }
    rmdir(path)
  }

  /// Calls `body` with each name in a folder except "." and "..", in no particular order.
  public static func list(
    _ folder: String, _ body: (FolderEntry) throws(Failure) -> Void
  ) throws(Failure) {
    guard let stream = opendir(folder) else {
      throw .system(call: "opendir", path: folder, errno: errno)
    }
    Counter.openedFolders.add()
    try list(stream, path: folder, body)
  }

  /// Calls `body` with each name in a folder that is open for reading, and closes the folder; `path` is for
  /// errors.
  public static func list(
    takingOwnership descriptor: Int32, path: String, _ body: (FolderEntry) throws(Failure) -> Void
  ) throws(Failure) {
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw .system(call: "fdopendir", path: path, errno: code)
    }
    try list(stream, path: path, body)
  }

  private static func list(
    _ stream: OpaquePointer, path: String, _ body: (FolderEntry) throws(Failure) -> Void
  ) throws(Failure) {
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let next = readdir(stream) else {
        if errno != 0 { throw .system(call: "readdir", path: path, errno: errno) }
        return
      }
      let entry = FolderEntry(entry: next, stream: stream)
      if !entry.isDots { try body(entry) }
    }
  }
}
