internal import Glibc

/// Files that are whole or absent, and on disk when the call returns.
enum DurableFile {
  /// Writes a file under its name in one step: a temporary file, fsync, rename, and fsync of the
  /// folder.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let temporary = try writeTemporary(bytes, beside: path, mode: 0o644)
    if rename(temporary, path) != 0 {
      let code = errno
      unlink(temporary)
      throw MembershipError.system(call: "rename", path: path, code: code)
    }
    try synchronizeFolder(of: path)
  }

  /// Writes a file that must not exist yet, readable by its owner alone. False when somebody else
  /// was faster: what stands there is left alone.
  static func createSecret(_ bytes: [UInt8], at path: String) throws -> Bool {
    let temporary = try writeTemporary(bytes, beside: path, mode: 0o600)
    defer { unlink(temporary) }
    if link(temporary, path) != 0 {
      if errno == EEXIST { return false }
      throw MembershipError.system(call: "link", path: path, code: errno)
    }
    try synchronizeFolder(of: path)
    return true
  }

  /// The content of a plain file. Throws `fileDamaged` for anything larger than `limit`.
  static func read(_ path: String, limit: Int) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw MembershipError.system(call: "open", path: path, code: errno) }
    defer { close(file) }
    return try read(file, path: path, limit: limit)
  }

  static func read(_ file: Int32, path: String, limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw MembershipError.system(call: "read", path: path, code: errno)
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      if bytes.count > limit { throw MembershipError.fileDamaged(path: path) }
    }
  }

  /// Makes a folder and those above it.
  static func createFolder(_ path: String, mode: mode_t) throws {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw MembershipError.system(call: "mkdir", path: path, code: errno)
    }
    try createFolder(String(path[..<slash]), mode: mode)
    if mkdir(path, mode) != 0 && errno != EEXIST {
      throw MembershipError.system(call: "mkdir", path: path, code: errno)
    }
  }

  /// Makes the names in the folder that holds `path` durable.
  static func synchronizeFolder(of path: String) throws {
    let folder =
      path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if handle < 0 { throw MembershipError.system(call: "open", path: folder, code: errno) }
    defer { close(handle) }
    if fsync(handle) != 0 {
      throw MembershipError.system(call: "fsync", path: folder, code: errno)
    }
  }

  /// The names in a folder, without "." and "..", in no particular order.
  static func names(in folder: String) throws -> [String] {
    guard let stream = opendir(folder) else {
      throw MembershipError.system(call: "opendir", path: folder, code: errno)
    }
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

  private static func writeTemporary(_ bytes: [UInt8], beside path: String, mode: mode_t) throws
    -> String
  {
    let suffix = Hexadecimal.encode(try OpenSSL.random(8))
    let temporary = "\(path).\(suffix).tmp"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    if file < 0 { throw MembershipError.system(call: "open", path: temporary, code: errno) }
    var failure: MembershipError?
    var written = 0
    while written < bytes.count && failure == nil {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        failure = .system(call: "write", path: temporary, code: errno)
      }
    }
    if failure == nil && fsync(file) != 0 {
      failure = .system(call: "fsync", path: temporary, code: errno)
    }
    if close(file) != 0 && failure == nil {
      failure = .system(call: "close", path: temporary, code: errno)
    }
    if let failure {
      unlink(temporary)
      throw failure
    }
    return temporary
  }
}
