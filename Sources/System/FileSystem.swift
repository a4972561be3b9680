public import Glibc

/// Calls on files and folders that are carried out as a whole, or throw the caller's own error.
///
/// No file that is opened here goes on to a program that is started.
public enum FileSystem<Failure: FileFailure> {
  /// Opens a file; the descriptor is the caller's to close.
  public static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Failure) -> Int32
  {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC, mode)
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
    if fsync(descriptor) != 0 { throw .system(call: "fsync", path: path, errno: errno) }
  }

  /// Waits until the content of the file with that name is on the disk.
  public static func sync(file path: String) throws(Failure) {
    let descriptor = try open(path, O_RDONLY)
    defer { close(descriptor) }
    try sync(descriptor, path: path)
  }

  /// Gives a file or folder another name, in place of what has that name.
  public static func rename(_ old: String, to new: String) throws(Failure) {
    if Glibc.rename(old, new) != 0 { throw .system(call: "rename", path: new, errno: errno) }
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
