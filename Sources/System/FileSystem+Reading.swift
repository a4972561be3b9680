internal import Glibc

extension FileSystem {
  /// The content of a plain file.
  ///
  /// - Parameters:
  ///   - limit: a file of more bytes is an error, EFBIG.
  ///   - followsLink: whether a symbolic link in its place is followed, or is an error, ELOOP.
  public static func read(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) throws(Failure) -> [UInt8] {
    guard let content = try readIfThere(path, limit: limit, followsLink: followsLink) else {
      throw .system(call: "open", path: path, errno: errno)
    }
    return content
  }

  /// The same; nil, with `errno` set, where there is no file of that name.
  public static func readIfThere(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) throws(Failure) -> [UInt8]? {
    let flags = O_RDONLY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    // A FIFO in the file's place must not hold us up. Where somebody has a lease on a file, the system
    // then says so instead of waiting until it is given back (fcntl(2)).
    var descriptor = Counted.open(path, flags | O_NONBLOCK)
    if descriptor < 0, errno == EWOULDBLOCK { descriptor = Counted.open(path, flags) }
    if descriptor < 0 {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    return try read(descriptor, path: path, limit: limit)
  }

  /// The same; nil also if it cannot be read. For files that another program may have written, or that only
  /// save time: the caller continues as if there were none. A caller that needs the file uses `read`.
  public static func contentIfAny(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) -> [UInt8]? {
    do { return try readIfThere(path, limit: limit, followsLink: followsLink) } catch { return nil }
  }

  /// Everything that can be read from a plain file that is open, from where it stands.
  public static func read(
    _ descriptor: Int32, path: String, limit: Int = .max
  ) throws(Failure) -> [UInt8] {
    var status = stat()
    if Counted.fstat(descriptor, &status) != 0 {
      throw .system(call: "fstat", path: path, errno: errno)
    }
    if status.st_mode & S_IFMT != S_IFREG {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      throw .system(call: "read", path: path, errno: isFolder ? EISDIR : EINVAL)
    }
    // One byte more than the size shows the end of the file without a second call. The room is not
    // zeroed first: of a large file that is a good part of the time it takes to read it.
    var room = max(min(Int(status.st_size), limit) + 1, 512)
    var content: [UInt8] = []
    var (hasEnded, code) = (false, Int32(0))
    while !hasEnded, code == 0, content.count <= limit {
      let part = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
        while !hasEnded, code == 0, filled < buffer.count {
          let count = Glibc.read(
            descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
          if count < 0, errno != EINTR { code = errno }
          filled += max(count, 0)
          // A file that ends where the system says is not read once more.
          hasEnded = count == 0 || filled == status.st_size && filled < buffer.count
        }
      }
      content = content.isEmpty ? part : content + part
      room = content.count
    }
    if code != 0 { throw .system(call: "read", path: path, errno: code) }
    if content.count > limit { throw .system(call: "read", path: path, errno: EFBIG) }
    return content
  }
}
