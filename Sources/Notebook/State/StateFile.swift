internal import CLinux
internal import Git
internal import Glibc

/// Small files of this device's state under `.git/notes/`: replaced as a whole, durably, so that a
/// reader or a power cut meets the old one or the new one.
enum StateFile {
  /// The content of a file, or nil when it does not exist.
  static func read(_ path: String) throws -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ENOTDIR else {
        throw NotebookError.file(call: "open", path: path, errno: errno)
      }
      return nil
    }
    defer { close(descriptor) }
    return try readAll(descriptor, path: path)
  }

  /// Everything that can be read from a descriptor.
  static func readAll(_ descriptor: Int32, path: String) throws -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw NotebookError.file(call: "fstat", path: path, errno: errno)
    }
    // One byte more than the size shows the end of the file without a second call.
    var content = [UInt8](repeating: 0, count: max(Int(status.st_size) + 1, 512))
    var filled = 0
    while true {
      if filled == content.count {
        content.append(contentsOf: repeatElement(0, count: content.count))
      }
      let count = content.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw NotebookError.file(call: "read", path: path, errno: errno)
      }
      if count == 0 { break }
      filled += count
    }
    content.removeLast(content.count - filled)
    return content
  }

  /// Replaces a file durably: temporary file, fsync, rename, fsync of the folder.
  static func write(_ content: [UInt8], to path: String) throws {
    let temporary = path + ".new"
    try writeSynced(content, to: temporary, mode: 0o600)
    guard rename(temporary, path) == 0 else {
      throw NotebookError.file(call: "rename", path: path, errno: errno)
    }
    try sync(folder: parent(of: path))
  }

  /// Writes a new file and syncs its content.
  static func writeSynced(_ content: [UInt8], to path: String, mode: mode_t, sync: Bool = true)
    throws
  {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else {
      throw NotebookError.file(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    try writeAll(content, to: descriptor, path: path)
    if sync, fsync(descriptor) != 0 {
      throw NotebookError.file(call: "fsync", path: path, errno: errno)
    }
  }

  /// Writes all bytes.
  static func writeAll(_ content: [UInt8], to descriptor: Int32, path: String) throws {
    var written = 0
    while written < content.count {
      let count = content.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw NotebookError.file(call: "write", path: path, errno: errno)
      }
      written += count
    }
  }

  /// Waits until everything on the file system that holds `folder` is on the disk.
  static func syncFileSystem(of folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw NotebookError.file(call: "open", path: folder, errno: errno)
    }
    defer { close(descriptor) }
    guard notes_syncfs(descriptor) == 0 else {
      throw NotebookError.file(call: "syncfs", path: folder, errno: errno)
    }
  }

  /// Makes the names in a folder durable.
  static func sync(folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw NotebookError.file(call: "open", path: folder, errno: errno)
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw NotebookError.file(call: "fsync", path: folder, errno: errno)
    }
  }

  /// Removes a file durably; one that does not exist is no error.
  static func remove(_ path: String) throws {
    guard unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw NotebookError.file(call: "unlink", path: path, errno: errno)
    }
    try sync(folder: parent(of: path))
  }

  /// Makes a folder with its parents, as far as they are missing.
  static func makeFolder(_ path: String) throws {
    if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, !parent(of: path).isEmpty, parent(of: path) != path else {
      throw NotebookError.file(call: "mkdir", path: path, errno: errno)
    }
    try makeFolder(parent(of: path))
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw NotebookError.file(call: "mkdir", path: path, errno: errno)
    }
  }

  /// The folder a path is in.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
