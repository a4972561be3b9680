internal import Glibc
internal import System

/// A file with a private key.
enum SecretFile {
  /// The content; nil if there is no file. Throws if other users may read the file, if another user
  /// owns it, or if it has more than `limit` bytes.
  static func read(
    _ path: String, limit: Int, _ unusable: (KeyFileDefect) -> any Error
  ) throws -> [UInt8]? {
    // O_NONBLOCK: a FIFO in the file's place must not block. A link may lead out of the user's own folder, to a
    // file that others can replace.
    let file = Counted.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    if file < 0 {
      if errno == ENOENT { return nil }
      if errno == ELOOP { throw unusable(.isLink) }
      throw MembershipError.system(call: "open", path: path, code: errno)
    }
    defer { close(file) }
    var status = stat()
    if Counted.fstat(file, &status) != 0 {
      throw MembershipError.system(call: "fstat", path: path, code: errno)
    }
    if status.st_mode & S_IFMT != S_IFREG { throw unusable(.notAFile) }
    if status.st_uid != geteuid() { throw unusable(.foreignOwner(status.st_uid)) }
    if status.st_mode & 0o077 != 0 { throw unusable(.openToOthers(mode: status.st_mode & 0o7777)) }
    guard status.st_size <= limit else { throw unusable(.notAKey) }
    return try Disk.read(file, path: path, limit: limit)
  }
}
