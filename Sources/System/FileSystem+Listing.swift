internal import Glibc

/// A name in a folder that is being listed; valid until the next one comes.
public struct FolderEntry {
  fileprivate let entry: UnsafeMutablePointer<dirent>

  /// The name.
  public var name: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: strlen(start))
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
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let next = readdir(stream) else {
        if errno != 0 { throw .system(call: "readdir", path: folder, errno: errno) }
        return
      }
      let entry = FolderEntry(entry: next)
      if !entry.isDots { try body(entry) }
    }
  }
}
