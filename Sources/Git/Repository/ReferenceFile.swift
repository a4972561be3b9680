internal import CLinux
internal import Glibc
internal import System

/// A reference's file, its lock and its log, as git keeps them (gitrepository-layout(5)).
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
    /// There is none: the reference may be among the packed ones.
    case none
    /// It stands where another one does.
    case symbolic(String)
    /// A folder is there, which is empty or holds others.
    case folder
    /// It is of a form that is not known.
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
      // `ID NAME`; other lines are comments and what tags point to.
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
  /// - Parameter expected: where it stands, or nil where there is none.
  /// - Throws: `GitError.referenceMoved` when it stands elsewhere, `locked` while git moves it,
  ///   `brokenReference` where its file names another one or says nothing known.
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
    // With everything on its way, the first wait is the only long one.
    try syncingObjects()
    for (file, path) in zip([descriptor] + written, [lock] + logs) {
      try Disk.sync(file, path: path)
    }
    if content == .folder { Self.removeEmptyFolders(path) }
    try Disk.rename(lock, to: path)
    isMoved = true
    // If the folder is gone, git has packed the reference.
    _ = try Disk.syncIfThere(folder: Disk.parent(of: path))
  }

  /// Removes the reference, durably, with its log and the folders that it leaves empty. One that does not exist
  /// is no error.
  ///
  /// - Throws: `GitError.locked` while git moves it or packs references.
  func remove() throws {
    guard content != .none || packed != nil else { return }
    let (lock, descriptor) = try takeLock()
    close(descriptor)
    defer { unlink(lock) }
    // The packed one first: else the reference would stand there again for a moment.
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

  /// The commit it stands for, by its own file or the one of all packed references.
  private var target: ObjectID? {
    get throws {
      switch content {
      case .id(let id): return id
      case .none, .folder: return packed
      case .symbolic, .other: throw GitError.brokenReference(name)
      }
    }
  }

  /// Whether git keeps a log of it (git-config(1), core.logAllRefUpdates).
  private var isLogged: Bool {
    ["refs/heads/", "refs/remotes/", "refs/notes/"].contains { name.hasPrefix($0) }
  }

  /// Takes its line out of the file of packed references, with the one below that says what a tag stands for.
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

  /// Removes a folder where it and those below it hold nothing: git leaves such where references were.
  private static func removeEmptyFolders(_ path: String) {
    for name in Disk.namesIfAny(in: path) { removeEmptyFolders(path + "/" + name) }
    rmdir(path)
  }

  /// Lets another reference stand where this one does, without a wait for the disk: its file becomes a
  /// second name of this one's, whose content is there already. Git and libgit2 never write into such
  /// a file. False where the file system has none.
  ///
  /// - Throws: where somebody holds the other's lock.
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
    // Two names of one file are left alone by rename(2).
    unlink(lock)
    return true
  }

  /// Makes the lock's file, and the folder for it.
  private func takeLock() throws -> (path: String, descriptor: Int32) {
    let lock = path + ".lock"
    var descriptor = Self.createLock(lock)
    // git removes folders that are empty.
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

  /// How long a lock stands that somebody may still hold, in seconds. git has it for milliseconds.
  private static let longestLock = 3_600
  private static let attempts = 100  // of 10 ms each
  /// How many attempts must find the same lock before it goes: a clock may be wrong, or another one than the
  /// file system's, and then each lock seems old.
  private static let attemptsAtOne = 50

  /// Makes the lock's file: a descriptor, or -1 with `errno`. It waits for a git that is moving the
  /// reference; the lock of a killed one, which git itself would never remove, goes after an hour.
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

  /// Adds a line to a log, which is made where it is not there, and is to be synced and closed.
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
