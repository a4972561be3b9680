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

  enum Content: Equatable {
    case id(ObjectID)
    /// There is none: the reference may be among the packed ones.
    case none
    /// It is a symbolic reference, or of a form that is not known here.
    case other
  }

  var content: Content {
    guard let line = Self.firstLine(of: path) else {
      return Counted.access(path, F_OK) == 0 ? .other : .none
    }
    return ObjectID(hex: line).map { .id($0) } ?? .other
  }

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

  /// Moves the reference, durably, from where it is expected to stand, with entries in its log and
  /// in other logs. False when nothing was done because libgit2 has to: a log is missing, or somebody
  /// holds the lock.
  func move(
    to id: ObjectID, from expected: ObjectID?, by identity: (name: String, email: String),
    message: String, logs others: [String], syncingObjects: () throws -> Void
  ) throws -> Bool {
    let logs = ([name] + others).map { gitFolder + "/logs/" + $0 }
    if expected == nil { try makeLogs(logs) }
    for log in logs where Counted.access(log, W_OK) != 0 {
      return try Self.leaveToLibrary("open", log)
    }
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
    Counted.startWriting(descriptor)
    let signature = Signature(
      name: identity.name, email: identity.email, time: WallClock.now(), offset: WallClock.offset())
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

  /// Lets another reference stand where this one does, without a wait for the disk: its file becomes a
  /// second name of this one's, whose content is there already. Git and libgit2 never write into such
  /// a file. False where libgit2 has to do it.
  ///
  /// - Throws: where somebody holds the other's lock.
  func link(as copy: ReferenceFile) throws -> Bool {
    let lock = copy.path + ".lock"
    var isLinked = Glibc.link(path, lock) == 0
    if !isLinked, errno == ENOENT {
      try Disk.makeFolders(Disk.parent(of: lock), in: gitFolder)
      isLinked = Glibc.link(path, lock) == 0
    }
    if !isLinked, errno == EEXIST { throw GitError.locked(lock) }
    guard isLinked else { return false }
    do {
      try Disk.rename(lock, to: copy.path)
    } catch {
      unlink(lock)
      throw error
    }
    // Two names of one file are left alone by rename(2).
    unlink(lock)
    return true
  }

  /// False where libgit2 may manage what failed: something is missing, or in the way.
  private static func leaveToLibrary(_ call: String, _ path: String) throws -> Bool {
    if [ENOENT, ENOTDIR, EEXIST].contains(errno) { return false }
    throw GitError.system(call: call, path: path, errno: errno)
  }

  /// How long a lock stands that somebody may still hold, in seconds. git has it for milliseconds.
  private static let longestLock = 3_600
  private static let attempts = 100  // of 10 ms each

  /// Makes the lock's file: a descriptor, or -1 with `errno`. It waits for a git that is moving the
  /// reference; what a killed one left, which git itself would never take away, goes after an hour.
  private static func createLock(_ lock: String) -> Int32 {
    for attempt in 1...attempts {
      let descriptor = Counted.open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor < 0, errno == EEXIST, attempt < attempts else { return descriptor }
      var status = stat()
      if Counted.lstat(lock, &status) == 0, WallClock.age(of: status) > longestLock {
        unlink(lock)
      } else {
        usleep(10_000)
      }
    }
    return -1
  }

  private func makeLogs(_ logs: [String]) throws {
    for log in logs {
      let folder = Disk.parent(of: log)
      try Disk.makeFolders(folder, in: gitFolder)
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
    Counted.startWriting(descriptor)
    return descriptor
  }

  /// The first line of a small file, without the space at its end, as git reads references; nil when it
  /// can't be read or is empty.
  static func firstLine(of path: String) -> String? {
    let descriptor = Counted.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    var line = buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }
    while let last = line.last, [0x20, 0x09, 0x0d].contains(last) { line.removeLast() }
    return String(decoding: line, as: UTF8.self)
  }
}
