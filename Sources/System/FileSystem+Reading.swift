internal import Glibc

extension FileSystem {
  /// The content of a plain file.
  ///
  /// - Parameters:
  ///   - limit: a larger file, in bytes, is an error, EFBIG.
  ///   - followsLink: whether to follow a symbolic link; if false, a link is an error, ELOOP.
  public static func read(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) throws(Failure) -> [UInt8] {
    guard let content = try readIfThere(path, limit: limit, followsLink: followsLink) else {
      throw .system(call: "open", path: path, errno: errno)
    }
    return content
  }

  /// Like `read`; nil, with `errno` set, if there is no such file.
  public static func readIfThere(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) throws(Failure) -> [UInt8]? {
    let flags = O_RDONLY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    // A FIFO in the file's place must not block. If another program has a lease on the file, the
    // system then reports that instead of waiting for its end (fcntl(2)).
    var descriptor = Counted.open(path, flags | O_NONBLOCK)
    if descriptor < 0, errno == EWOULDBLOCK { descriptor = Counted.open(path, flags) }
    if descriptor < 0 {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    return try read(descriptor, path: path, limit: limit)
  }

  /// Like `readIfThere`; nil also if the file cannot be read. Use it only if the caller can continue without the file,
  /// such as for a cache. A caller that needs the file uses `read`.
  public static func contentIfAny(
    _ path: String, limit: Int = .max, followsLink: Bool = true
  ) -> [UInt8]? {
    do { return try readIfThere(path, limit: limit, followsLink: followsLink) } catch { return nil }
  }

  /// The rest of an open plain file, from its present position on.
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
    // The buffer is one byte larger than the file, so a short read shows the end of the file without a second call. The
    // buffer is not zeroed first, which would take a good part of the time for a large file.
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
          // If the file ends at its stated size, it is not read again.
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
