internal import CLinux
public import Glibc

/// Calls on files and folders that are carried out as a whole, or throw the caller's own error.
///
/// No file that is opened here goes on to a program that is started.
public enum FileSystem<Failure: FileFailure> {
  /// Opens a file; the descriptor is the caller's to close.
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

  /// Gives a file or folder another name, in place of what has that name.
  public static func rename(_ old: String, to new: String) throws(Failure) {
    if Glibc.rename(old, new) != 0 { throw .system(call: "rename", path: new, errno: errno) }
  }

  /// Gives a file a name that nothing has; false where something has it.
  public static func rename(_ old: String, toFree new: String) throws(Failure) -> Bool {
    if notes_renameat2(AT_FDCWD, old, AT_FDCWD, new, NOTES_RENAME_NOREPLACE) == 0 { return true }
    // File systems that can't promise to replace nothing: looked at first.
    let isUnable = errno == EINVAL || errno == ENOSYS
    if errno == EEXIST || isUnable && Counted.access(new, F_OK) == 0 { return false }
    if !isUnable { throw .system(call: "rename", path: new, errno: errno) }
    try rename(old, to: new)
    return true
  }

  /// Removes a file durably; one that does not exist is no error.
  public static func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw .system(call: "unlink", path: path, errno: errno)
    }
    try sync(folder: parent(of: path))
  }
}

extension FileSystem {
  /// Writes a file that must not exist yet. When that fails, nothing of it stays.
  ///
  /// - Parameters:
  ///   - overLeftover: what a killed process left under that name goes first.
  ///   - waits: whether its content is on the disk when this returns; its name need not be.
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

  /// Makes a file what `content` says, in one step: whoever reads it meanwhile, or after a power cut,
  /// meets the old one or the new one.
  ///
  /// - Parameters:
  ///   - isShared: whether others may do so at the same moment. For a file that is only written under
  ///     a lock, what a killed process left is overwritten the next time.
  ///   - waits: whether it is on the disk when this returns. Without, a power cut may leave an empty
  ///     file: for what can be made anew.
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

  /// Makes a durable file for its owner alone; false when one was there before, which stays as it is.
  /// It is whole from the moment it is there.
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

  /// A name beside a file that nobody else comes upon, and that tells what it is.
  public static func unique(beside path: String) -> String {
    path + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ".tmp"
  }

  /// Bytes that this user can still write to the file system that a file is on.
  public static func freeBytes(at path: String) throws(Failure) -> Int {
    var space = statvfs()
    guard statvfs(path, &space) == 0 else {
      throw .system(call: "statvfs", path: path, errno: errno)
    }
    return Int(clamping: UInt64(space.f_bavail) &* UInt64(space.f_frsize))
  }
}

/// The path of what is there, without links, `.` and `..`: realpath(3); nil where nothing is.
package func realPath(of path: String) -> String? {
  guard let found = realpath(path, nil) else { return nil }
  defer { free(found) }
  return String(cString: found)
}
