internal import CLinux
public import Glibc

/// Operations on files and folders that either complete or throw the caller's own error type.
///
/// Child processes inherit none of the files opened here.
public enum FileSystem<Failure: FileFailure> {
  /// Opens a file; the caller closes the descriptor.
  public static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Failure) -> Int32
  {
    let descriptor = Counted.open(path, flags | O_CLOEXEC, mode)
    if descriptor < 0 { throw .system(call: "open", path: path, errno: errno) }
    return descriptor
  }

  /// Writes all bytes.
  public static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(Failure) {
    try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
      try write(UnsafeRawBufferPointer(bytes), to: descriptor, path: path)
    }
  }

  /// Writes all bytes.
  public static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String
  ) throws(Failure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw .system(call: "write", path: path, errno: errno)
      }
    }
  }

  /// Waits until a file's content is on the disk.
  public static func sync(_ descriptor: Int32, path: String) throws(Failure) {
    if Counted.fsync(descriptor) != 0 { throw .system(call: "fsync", path: path, errno: errno) }
  }

  /// Waits until the content of the file with that name is on the disk.
  public static func sync(file path: String, _ flags: Int32 = O_RDONLY) throws(Failure) {
    let descriptor = try open(path, flags)
    defer { close(descriptor) }
    try sync(descriptor, path: path)
  }

  /// Renames a file or folder, replacing a file with the new name.
  public static func rename(_ old: String, to new: String) throws(Failure) {
    if Glibc.rename(old, new) != 0 { throw .system(call: "rename", path: new, errno: errno) }
  }

  /// Renames a file; returns false if the new name is in use.
  public static func rename(_ old: String, toFree new: String) throws(Failure) -> Bool {
    if notes_renameat2(AT_FDCWD, old, AT_FDCWD, new, NOTES_RENAME_NOREPLACE) == 0 { return true }
    // Some file systems cannot refuse to replace a file in a rename. There, check whether the name is free, then
    // rename.
    let isUnable = errno == EINVAL || errno == ENOSYS
    if errno == EEXIST || isUnable && Counted.access(new, F_OK) == 0 { return false }
    if !isUnable { throw .system(call: "rename", path: new, errno: errno) }
    try rename(old, to: new)
    return true
  }

  /// Removes a file durably; a missing file is not an error.
  public static func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw .system(call: "unlink", path: path, errno: errno)
    }
    try sync(folder: parent(of: path))
  }
}

extension FileSystem {
  /// Writes a new file. If that fails, the file is removed.
  ///
  /// - Parameters:
  ///   - overLeftover: whether to first remove a file with that name, the leftover of a killed
  ///     process.
  ///   - waits: whether to return only when the content is on the disk; its name need not be.
  public static func create(
    _ path: String, _ content: [UInt8], mode: mode_t, overLeftover: Bool = false, waits: Bool = true
  ) throws(Failure) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    var descriptor = Counted.open(path, flags, mode)
    if descriptor < 0, errno == EEXIST, overLeftover {
      unlink(path)
      descriptor = Counted.open(path, flags, mode)
    }
    if descriptor < 0 { throw .system(call: "open", path: path, errno: errno) }
    do {
      try write(content, to: descriptor, path: path)
      if waits { try sync(descriptor, path: path) }
    } catch {
      close(descriptor)
      unlink(path)
      throw error
    }
    if close(descriptor) != 0 {
      let code = errno
      unlink(path)
      throw .system(call: "close", path: path, errno: code)
    }
  }

  /// Replaces a file's content in one step: readers see the old file or the new one, also after a power cut.
  ///
  /// - Parameters:
  ///   - isShared: whether other processes may replace the file at the same time. If not, the caller holds a
  ///     lock, and the next write replaces the leftover of a killed process.
  ///   - waits: whether to return only when the file is on the disk. If not, a power cut may leave an empty
  ///     file, so use it only for files that can be made again.
  public static func replace(
    _ path: String, with content: [UInt8], mode: mode_t = 0o600, isShared: Bool = false,
    waits: Bool = true
  ) throws(Failure) {
    let temporary = isShared ? unique(beside: path) : path + ".new"
    try create(temporary, content, mode: mode, overLeftover: !isShared, waits: waits)
    do {
      try rename(temporary, to: path)
    } catch {
      unlink(temporary)
      throw error
    }
    if waits { try sync(folder: parent(of: path)) }
  }

  /// Makes a durable file that only its owner can read; returns false if there already is a file,
  /// which is not changed. The file is complete as soon as it exists.
  public static func createSecret(_ path: String, _ content: [UInt8]) throws(Failure) -> Bool {
    let temporary = unique(beside: path)
    try create(temporary, content, mode: 0o600)
    defer { unlink(temporary) }
    if link(temporary, path) != 0 {
      if errno == EEXIST { return false }
      throw .system(call: "link", path: path, errno: errno)
    }
    try sync(folder: parent(of: path))
    return true
  }

  /// A unique name beside a file, with the file's name in it.
  public static func unique(beside path: String) -> String {
    path + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ".tmp"
  }

  /// How many bytes this user can still write to the file system of a file.
  public static func freeBytes(at path: String) throws(Failure) -> Int {
    var space = statvfs()
    guard statvfs(path, &space) == 0 else {
      throw .system(call: "statvfs", path: path, errno: errno)
    }
    return Int(clamping: UInt64(space.f_bavail) &* UInt64(space.f_frsize))
  }
}

/// The path without links, `.` and `..`: realpath(3); nil if nothing is there.
package func realPath(of path: String) -> String? {
  guard let found = realpath(path, nil) else { return nil }
  defer { free(found) }
  return String(cString: found)
}
