internal import Glibc

/// Small files of this module's own state.
enum SmallFile {
  /// The content; nil where there is no such plain file, or one larger than `limit`.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        Glibc.read(file, $0.baseAddress?.advanced(by: filled), $0.count - filled)
      }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      filled += count
    }
    return filled > limit ? nil : Array(bytes[..<filled])
  }

  /// Replaces a file in one step, for its owner alone.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let temporary = path + ".new"
    unlink(temporary)
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw SyncError.failed("\(temporary): error \(errno)") }
    let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
    let code = errno
    close(file)
    guard isWritten, rename(temporary, path) == 0 else {
      unlink(temporary)
      throw SyncError.failed("\(path): error \(isWritten ? errno : code)")
    }
  }
}

/// The names in a folder.
enum FolderNames {
  static func of(_ folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
