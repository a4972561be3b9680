public import Glibc
internal import Synchronization
public import System

/// A folder of a test's own, removed with everything in it when the value goes away.
public final class TemporaryFolder: Sendable {
  /// The folder's absolute path.
  public let path: String

  /// Makes the folder, in $TMPDIR or /tmp.
  public init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/notes-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", template.string) }
    // Programs report paths without symbolic links, and tests compare them.
    guard let real = realpath(template.string, nil) else { throw SystemError("realpath") }
    defer { free(real) }
    let path = String(cString: real)
    self.path = path
    Self.open.withLock { _ = $0.insert(path) }
    _ = Self.removedAtExit
  }

  deinit {
    removeTree(path)
    Self.open.withLock { _ = $0.remove(path) }
  }

  private static let open = Mutex(Set<String>())

  /// What lives as long as the program has no end of its own.
  private static let removedAtExit = atexit {
    for path in TemporaryFolder.open.withLock({ $0 }) { removeTree(path) }
  }

  /// The path of something in the folder.
  public subscript(_ relative: String) -> String { "\(path)/\(relative)" }

  /// Writes a file, making the folders it needs.
  public func write(_ bytes: [UInt8], to relative: String) throws {
    try writeFile(self[relative], bytes)
  }

  /// Writes a file of text, making the folders it needs.
  public func write(_ text: String, to relative: String) throws {
    try write(Array(text.utf8), to: relative)
  }

  /// The bytes of a file.
  public func read(_ relative: String) throws -> [UInt8] { try readFile(self[relative]) }

  /// The text of a file.
  public func text(_ relative: String) throws -> String {
    String(decoding: try read(relative), as: UTF8.self)
  }
}

/// A system call that failed in a test's own machinery.
public struct SystemError: FileFailure, CustomStringConvertible {
  public let description: String

  /// The failure of `call` by errno, or by `code` where the call returns it.
  public init(_ call: String, _ subject: String = "", code: Int32 = errno) {
    description = "\(call) \(subject): \(String(cString: strerror(code)))"
  }
}

extension SystemError {
  public static func system(call: String, path: String, errno: Int32) -> SystemError {
    SystemError(call, path, code: errno)
  }
}

private typealias Disk = FileSystem<SystemError>

/// Makes a folder and those above it; does nothing where it exists.
public func makeFolder(_ path: String) throws { try Disk.makeFolders(path, mode: 0o755) }

/// Writes a file in place, making the folders it needs.
public func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  try makeFolder(Disk.parent(of: path))
  let file = try Disk.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
  defer { close(file) }
  try Disk.write(bytes, to: file, path: path)
}

/// The bytes of a file.
public func readFile(_ path: String) throws -> [UInt8] { try Disk.read(path) }

/// Removes a file, or a folder with everything in it, as far as that goes.
public func removeTree(_ path: String) {
  if unlink(path) == 0 { return }
  if let folder = opendir(path) {
    while let entry = readdir(folder) {
      let name = nameBytes(of: entry)
      if name == Array(".".utf8) || name == Array("..".utf8) { continue }
      removeTree(bytes: Array(path.utf8) + [UInt8(ascii: "/")] + name)
    }
    closedir(folder)
  }
  rmdir(path)
}

/// The name of an entry that readdir(3) gave. The tuple of its type reaches beyond what was filled.
public func nameBytes(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
  guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
  let start = UnsafeRawPointer(entry) + offset
  let length = strlen(start.assumingMemoryBound(to: CChar.self))
  return [UInt8](UnsafeRawBufferPointer(start: start, count: length))
}

/// Names need not be UTF-8; those that are not are few and have no folders below them here.
private func removeTree(bytes: [UInt8]) {
  if let path = String(validating: bytes, as: UTF8.self) { return removeTree(path) }
  (bytes + [0]).withUnsafeBytes { raw in
    guard let start = raw.bindMemory(to: CChar.self).baseAddress else { return }
    if unlink(start) != 0 { rmdir(start) }
  }
}

extension [CChar] {
  var string: String {
    String(decoding: prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
