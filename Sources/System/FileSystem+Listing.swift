public import Glibc

/// A name in a folder that is being listed; valid until the next one comes.
public struct FolderEntry {
  fileprivate let entry: UnsafeMutablePointer<dirent>
  fileprivate let folder: Int32

  /// The name.
  public var name: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: strlen(start))
  }

  /// The number of what has the name, where the file system has numbers.
  public var inode: ino_t { entry.pointee.d_ino }

  /// Whether it is a folder's; a link to one is none.
  public var isFolder: Bool {
    switch Int32(entry.pointee.d_type) {
    case 4: return true  // DT_DIR
    case 0:  // DT_UNKNOWN: a file system that does not say
      var status = stat()
      return fstatat(folder, start, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
    default: return false
    }
  }

  private var start: UnsafePointer<CChar> {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    return UnsafePointer(
      UnsafeMutableRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }

  // "." and "..".
  fileprivate var isDots: Bool {
    let dot = CChar(bitPattern: UInt8(ascii: "."))
    return start[0] == dot && (start[1] == 0 || start[1] == dot && start[2] == 0)
  }
}

extension FileSystem {
  /// Calls `body` with each name in a folder but "." and "..", in no particular order.
  public static func list(
    _ folder: String, _ body: (FolderEntry) throws(Failure) -> Void
  ) throws(Failure) {
    guard let stream = opendir(folder) else {
      throw .system(call: "opendir", path: folder, errno: errno)
    }
    try list(stream, path: folder, body)
  }

  /// The same for an open folder, whose descriptor it closes.
  ///
  /// - Parameter path: what an error calls it.
  public static func list(
    _ descriptor: Int32, path: String, _ body: (FolderEntry) throws(Failure) -> Void
  ) throws(Failure) {
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw .system(call: "opendir", path: path, errno: code)
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
      let entry = FolderEntry(entry: next, folder: dirfd(stream))
      if !entry.isDots { try body(entry) }
    }
  }
}
