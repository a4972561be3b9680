internal import CLinux
internal import Glibc
internal import System

/// A reference's file, its lock and its log, in git's format (gitrepository-layout(5)).
struct ReferenceFile {
  private let gitFolder: String
  private let name: String
  private var path: String { gitFolder + "/" + name }

  init(_ name: String, in gitFolder: String) {
    self.gitFolder = gitFolder
    self.name = name
  }

  /// Whether the name is valid for a reference (git-check-ref-format(1)), and below `refs/`.
  static func isName(_ name: String) -> Bool {
    // Works on bytes, without the Swift library's string search, which would load the code for regular
    // expressions. Nothing else needs that code at the start of a command.
    let bytes = Array(name.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let refused = Array(" ~^:?*[\\\u{7f}".utf8)
    let isPair = { (position: Int, first: Character, second: Character) in
      bytes[position - 1] == first.asciiValue && bytes[position] == second.asciiValue
    }
    return parts.count > 1 && name.hasPrefix("refs/")
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
    /// The file does not exist: the reference may be packed.
    case none
    /// The file names another reference.
    case symbolic(String)
    /// There is a folder, which is empty or has other references.
    case folder
    /// The file contains something else.
    case other
  }

  var content: Content {
    guard let line = Self.firstLine(of: path) else {
      var status = stat()
      guard Counted.stat(path, &status) == 0 else { return .none }
      return status.st_mode & S_IFMT == S_IFDIR ? .folder : .other
    }
    if line.hasPrefix("ref:") {
      return .symbolic(String(line.dropFirst(4).drop { $0 == " " || $0 == "\t" }))
    }
    return ObjectID(hex: line).map { .id($0) } ?? .other
  }

  var packed: ObjectID? {
    guard let file = Disk.contentIfAny(gitFolder + "/packed-refs") else { return nil }
    for line in file.split(separator: UInt8(ascii: "\n")) where line.count == name.utf8.count + 41 {
      // `ID NAME`; other lines are comments, and the targets of tags.
      if line[line.startIndex + 40] == UInt8(ascii: " "),
        line.suffix(name.utf8.count).elementsEqual(name.utf8)
      {
        return ObjectID(hex: line.prefix(40))
      }
    }
    return nil
  }

  /// Moves the reference, durably, with entries in its log and in other logs.
  ///
  /// - Parameter expected: the present target; nil if the reference must not exist yet.
  /// - Throws: `GitError.referenceMoved` if the reference has another target, `locked` while git moves it,
  ///   `brokenReference` if its file names another reference or is malformed.
  func move(
    to id: ObjectID, from expected: ObjectID?, by identity: (name: String, email: String),
    message: String, logs others: [String], syncingObjects: () throws -> Void
  ) throws {
    let logs = ((isLogged ? [name] : []) + others).map { gitFolder + "/logs/" + $0 }
    let (lock, descriptor) = try takeLock()
    var isMoved = false
    defer {
      close(descriptor)
      if !isMoved { unlink(lock) }
    }
    guard try target == expected else { throw GitError.referenceMoved(name) }
    try Disk.write(Array("\(id)\n".utf8), to: descriptor, path: lock)
    Counted.startWriting(descriptor)
    let signature = Signature(
      name: identity.name, email: identity.email, time: WallClock.now(), offset: WallClock.offset())
    let entry = "\(expected ?? .zero) \(id) \(signature.serialized)\t\(message)\n"
    let written = try logs.map { try append(entry, to: $0) }
    defer { for log in written { close(log) } }
    // The system is already writing all files to the disk, so only the first wait is long.
    try syncingObjects()
    for (file, path) in zip([descriptor] + written, [lock] + logs) {
      try Disk.sync(file, path: path)
    }
    if content == .folder { Self.removeEmptyFolders(path) }
    try Disk.rename(lock, to: path)
    isMoved = true
    // If the folder no longer exists, git has packed the reference.
    _ = try Disk.syncIfThere(folder: Disk.parent(of: path))
  }

  /// Removes the reference, durably, with its log and the folders that become empty. A missing reference is not
  /// an error.
  ///
  /// - Throws: `GitError.locked` while git moves it or packs references.
  func remove() throws {
    guard content != .none || packed != nil else { return }
    let (lock, descriptor) = try takeLock()
    close(descriptor)
    defer { unlink(lock) }
    // Remove the packed reference first: otherwise the reference would have that value for a moment.
    if packed != nil { try unpack() }
    for file in [path, gitFolder + "/logs/" + name] where unlink(file) != 0 {
      guard [ENOENT, ENOTDIR, EISDIR].contains(errno) else {
        throw GitError.system(call: "unlink", path: file, errno: errno)
      }
    }
    unlink(lock)
    _ = try Disk.syncIfThere(folder: Disk.parent(of: path))
    let folders = name.split(separator: "/").dropLast()
    for count in stride(from: folders.count, to: 2, by: -1) {
      let folder = folders.prefix(count).joined(separator: "/")
      rmdir(gitFolder + "/logs/" + folder)
      if rmdir(gitFolder + "/" + folder) != 0 { break }
    }
  }

  /// The target commit, from its own file or the file of packed references.
  private var target: ObjectID? {
    get throws {
      switch content {
      case .id(let id): return id
      case .none, .folder: return packed
      case .symbolic, .other: throw GitError.brokenReference(name)
      }
    }
  }

  /// Whether git keeps a log for it (git-config(1), core.logAllRefUpdates).
  private var isLogged: Bool {
    ["refs/heads/", "refs/remotes/", "refs/notes/"].contains { name.hasPrefix($0) }
  }

  /// Removes its line from the file of packed references, and the line below with the target of a
  /// tag.
  private func unpack() throws {
    let file = gitFolder + "/packed-refs"
    let lock = file + ".lock"
    let descriptor = Self.createLock(lock)
    guard descriptor >= 0 else { throw Self.lockError(lock, "packed-refs.lock") }
    defer {
      close(descriptor)
      unlink(lock)
    }
    var kept: [UInt8] = []
    var isTaken = false
    for line in try Disk.read(file).split(separator: UInt8(ascii: "\n")) {
      isTaken =
        line.first == UInt8(ascii: "^") ? isTaken : line.dropFirst(41).elementsEqual(name.utf8)
      if !isTaken { kept += line + [UInt8(ascii: "\n")] }
    }
    try Disk.write(kept, to: descriptor, path: lock)
    try Disk.sync(descriptor, path: lock)
    try Disk.rename(lock, to: file)
    try Disk.sync(folder: gitFolder)
  }

  /// Removes a folder if it and the folders below it are empty: git leaves such folders behind.
  private static func removeEmptyFolders(_ path: String) {
    for name in Disk.namesIfAny(in: path) { removeEmptyFolders(path + "/" + name) }
    rmdir(path)
  }

  /// Gives another reference the same target without waiting for the disk: its file becomes a hard link to this
  /// reference's file, whose content is already on the disk. git and libgit2 never write into such a file.
  /// Returns false if the file system does not support this.
  ///
  /// - Throws: an error if another process holds the other reference's lock.
  func link(as copy: ReferenceFile) throws -> Bool {
    let lock = copy.path + ".lock"
    var isLinked = Glibc.link(path, lock) == 0
    if !isLinked, errno == ENOENT {
      try Disk.makeFolders(Disk.parent(of: lock), in: gitFolder)
      isLinked = Glibc.link(path, lock) == 0
    }
    if !isLinked, errno == EEXIST { throw GitError.locked(copy.name + ".lock") }
    guard isLinked else { return false }
    do {
      try Disk.rename(lock, to: copy.path)
    } catch {
      unlink(lock)
      throw error
    }
    // rename(2) does nothing with two names of the same file.
    unlink(lock)
    return true
  }

  /// Makes the lock file, and its folder.
  private func takeLock() throws -> (path: String, descriptor: Int32) {
    let lock = path + ".lock"
    var descriptor = Self.createLock(lock)
    // git removes empty folders.
    for _ in 0..<Self.attempts where descriptor < 0 && errno == ENOENT {
      try Disk.makeFolders(Disk.parent(of: lock), in: gitFolder)
      descriptor = Self.createLock(lock)
    }
    guard descriptor >= 0 else { throw Self.lockError(lock, name + ".lock") }
    return (lock, descriptor)
  }

  private static func lockError(_ path: String, _ name: String) -> GitError {
    errno == EEXIST ? .locked(name) : .system(call: "open", path: path, errno: errno)
  }

  /// The age from which a lock counts as stale, in seconds; git keeps a lock for milliseconds.
  private static let longestLock = 3_600
  private static let attempts = 100  // of 10 ms each
  /// How many attempts must find the same lock before it is removed. The age of a lock does not prove that it is stale:
  /// every lock seems old if this machine's clock is wrong or differs from the file system's.
  private static let attemptsAtOne = 50

  /// Makes the lock file: a descriptor, or -1 with `errno`. Waits while git moves the reference;
  /// the lock of a killed git, which git itself would never remove, is removed after an hour.
  private static func createLock(_ lock: String) -> Int32 {
    var met: (lock: FileStatus, since: Int)?
    for attempt in 1...attempts {
      let descriptor = Counted.open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor < 0, errno == EEXIST, attempt < attempts else { return descriptor }
      var status = stat()
      if Counted.lstat(lock, &status) == 0 {
        let found = FileStatus(status)
        if met?.lock != found { met = (found, attempt) }
        if let met, attempt - met.since >= attemptsAtOne, WallClock.age(of: status) > longestLock {
          unlink(lock)
          continue
        }
      }
      usleep(10_000)
    }
    return -1
  }

  /// Adds a line to a log, which is made if it does not exist; the caller syncs and closes the
  /// descriptor.
  private func append(_ line: String, to path: String) throws -> Int32 {
    var descriptor = Counted.open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    if descriptor < 0 {
      let folder = Disk.parent(of: path)
      try Disk.makeFolders(folder, in: gitFolder)
      Self.removeEmptyFolders(path)
      descriptor = try Disk.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o666)
      try Disk.sync(folder: folder)
    }
    do {
      try Disk.write(Array(line.utf8), to: descriptor, path: path)
    } catch {
      close(descriptor)
      throw error
    }
    Counted.startWriting(descriptor)
    return descriptor
  }

  /// The first line of a small file, without trailing white space, as git reads references; nil if it
  /// cannot be read or is empty.
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
