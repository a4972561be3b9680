internal import CLinux
internal import Glibc

/// Writing files and waiting for the disk.
enum FileOutput {
  /// Writes all bytes.
  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws {
    try bytes.withUnsafeBytes { try write($0, to: descriptor, path: path) }
  }

  /// Writes all bytes.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String
  ) throws {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(
        descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
      if count < 0 {
        if errno == EINTR { continue }
        throw GitError.system(call: "write", path: path, errno: errno)
      }
      written += count
    }
  }

  /// Waits until everything on the file system that holds `folder` is on the disk.
  static func syncFileSystem(of folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: folder, errno: errno)
    }
    defer { close(descriptor) }
    guard notes_syncfs(descriptor) == 0 else {
      throw GitError.system(call: "syncfs", path: folder, errno: errno)
    }
  }
}
