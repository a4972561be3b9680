internal import CLinux
internal import Glibc
internal import System

/// A branch's file, its lock and its log, as git keeps them (gitrepository-layout(5)), without
/// libgit2.
struct ReferenceFile {
  private let gitFolder: String
  private let name: String
  private var path: String { gitFolder + "/" + name }

  init(_ name: String, in gitFolder: String) {
    self.gitFolder = gitFolder
    self.name = name
  }

  /// Whether a reference can have that name (git-check-ref-format(1)), below `refs/`.
  static func isName(_ name: String) -> Bool {
    // By bytes, and without what the Swift library makes a type of its own for: searching strings for
    // strings brings in the machinery of regular expressions, which nothing else at a start needs.
    let bytes = Array(name.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let refused = Array(" ~^:?*[\\\u{7f}".utf8)
    let isPair = { (position: Int, first: Character, second: Character) in
      bytes[position - 1] == first.asciiValue && bytes[position] == second.asciiValue
    }
    return parts.count > 2 && name.hasPrefix("refs/")
      && !bytes.contains { $0 < 0x20 || refused.contains($0) }
      && !bytes.indices.dropFirst().contains { isPair($0, ".", ".") || isPair($0, "@", "{") }
      && !name.unicodeScalars.contains("\u{fffd}")
      && parts.allSatisfy { part in
        part.first != nil && part.first != UInt8(ascii: ".") && part.last != UInt8(ascii: ".")
          && Array(part.suffix(5)) != Array(".lock".utf8)
      }
  }

  /// What the reference's own file says.
  enum Content: Equatable {
    case id(ObjectID)
    /// There is none: the reference may be among the packed ones.
    case none
    /// It is a symbolic reference, or of a form that is not known here.
    case other
  }

  var content: Content {
    guard let line = Self.firstLine(of: path) else {
      return access(path, F_OK) == 0 ? .other : .none
    }
    return ObjectID(hex: line).map { .id($0) } ?? .other
  }

  /// The object among the packed references (git-pack-refs(1)), or nil.
  var packed: ObjectID? {
    guard let file = try? Disk.read(gitFolder + "/packed-refs") else { return nil }
    for line in file.split(separator: UInt8(ascii: "\n")) where line.count == name.utf8.count + 41 {
      // `ID NAME`; other lines are comments and what tags point to.
      if line[line.startIndex + 40] == UInt8(ascii: " "),
        line.suffix(name.utf8.count).elementsEqual(name.utf8)
      {
        return ObjectID(hex: line.prefix(40))
      }
    }
    return nil
  }

  /// Moves the reference, durably, with an entry in its log and in HEAD's, which names it.
  ///
  /// - Parameter syncingObjects: waits until what the reference is to stand for is on the disk.
  /// - Parameter expected: where it stands; nil when there is none yet.
  /// - Returns: false when nothing was done because libgit2 has to: a log does not exist although the
  ///   reference does, or somebody holds the lock.
  /// - Throws: `GitError.referenceMoved` when it does not stand at `expected`.
  func move(
    to id: ObjectID, from expected: ObjectID?, by identity: (name: String, email: String),
    message: String, syncingObjects: () throws -> Void
  ) throws -> Bool {
    let logs = [name, "HEAD"].map { gitFolder + "/logs/" + $0 }
    if expected == nil { try makeLogs(logs) }
    for log in logs where access(log, W_OK) != 0 { return try Self.leaveToLibrary("open", log) }
    let lock = path + ".lock"
    let descriptor = Self.createLock(lock)
    guard descriptor >= 0 else { return try Self.leaveToLibrary("open", lock) }
    var isMoved = false
    defer {
      close(descriptor)
      if !isMoved { unlink(lock) }
    }
    switch content {
    case .id(let current): guard current == expected else { throw GitError.referenceMoved(name) }
    case .none: guard packed == expected else { throw GitError.referenceMoved(name) }
    case .other: return false
    }
    try Disk.write(Array("\(id)\n".utf8), to: descriptor, path: lock)
    _ = notes_start_writing(descriptor)
    let signature = Signature(
      name: identity.name, email: identity.email, time: WallClock.now(),
      offset: WallClock.offset())
    let entry = "\(expected ?? .zero) \(id) \(signature.serialized)\t\(message)\n"
    let written = try logs.map { try Self.append(entry, to: $0) }
    defer { for log in written { close(log) } }
    // With everything on its way, the first wait is the only long one.
    try syncingObjects()
    for (file, path) in zip([descriptor] + written, [lock] + logs) {
      try Disk.sync(file, path: path)
    }
    try Disk.rename(lock, to: path)
    isMoved = true
    try Disk.sync(folder: Disk.parent(of: path))
    return true
  }

  /// False where libgit2 may manage what failed: something is missing, or in the way.
  private static func leaveToLibrary(_ call: String, _ path: String) throws -> Bool {
    if [ENOENT, ENOTDIR, EEXIST].contains(errno) { return false }
    throw GitError.system(call: call, path: path, errno: errno)
  }

  /// How long a lock stands that somebody may still hold, in seconds. git has it for milliseconds.
  private static let longestLock = 3_600
  /// How often a lock is asked for, in hundredths of a second.
  private static let attempts = 100

  /// Makes the lock's file, and returns its descriptor, or -1 with `errno`. It waits for a git that is
  /// just moving the reference; what a killed one left, which git itself would never take away, goes
  /// after an hour.
  private static func createLock(_ lock: String) -> Int32 {
    for attempt in 1...attempts {
      let descriptor = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor < 0, errno == EEXIST, attempt < attempts else { return descriptor }
      var status = stat()
      if lstat(lock, &status) == 0, WallClock.age(of: status) > longestLock {
        unlink(lock)
      } else {
        usleep(10_000)
      }
    }
    return -1
  }

  /// Makes the logs of a reference that is the first, as far as they are missing.
  private func makeLogs(_ logs: [String]) throws {
    for log in logs {
      let folders = log.dropFirst(gitFolder.utf8.count + 1).split(separator: "/").dropLast()
      var folder = gitFolder
      for name in folders {
        folder += "/" + name
        try Disk.makeFolder(folder, mode: 0o777)
      }
      close(try Disk.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o666))
      try Disk.sync(folder: folder)
    }
  }

  /// Adds a line to a log, which is to be synced and closed.
  private static func append(_ line: String, to path: String) throws -> Int32 {
    let descriptor = try Disk.open(path, O_WRONLY | O_APPEND)
    do {
      try Disk.write(Array(line.utf8), to: descriptor, path: path)
    } catch {
      close(descriptor)
      throw error
    }
    _ = notes_start_writing(descriptor)
    return descriptor
  }

  /// The first line of a small file, without its end; nil when it can't be read or is empty.
  static func firstLine(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
