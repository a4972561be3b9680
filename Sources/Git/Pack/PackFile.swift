internal import Glibc
internal import System

/// A pack file that is being written. It is not durable yet.
final class PackFile: Sendable {
  let path: String
  let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    descriptor = try Disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o444)
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try Disk.write(bytes, to: descriptor, path: path)
  }

  func write(_ bytes: [UInt8]) throws { try Disk.write(bytes, to: descriptor, path: path) }

  /// Writes the number of objects into the header, appends the checksum of the file's `size` bytes,
  /// and returns it. As the number is known only at the end, the whole file is read again.
  func seal(objectCount: Int, size: Int) throws -> [UInt8] {
    let header = PackFormat.header(objectCount: objectCount)
    guard pwrite(descriptor, header, header.count, 0) == header.count else {
      throw GitError.system(call: "write", path: path, errno: errno)
    }
    let checksum = try SHA1.ofFile(descriptor, size: size, path: path)
    try write(checksum)
    return checksum
  }
}
