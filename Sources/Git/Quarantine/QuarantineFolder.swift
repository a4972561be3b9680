internal import Glibc

/// The folder of one quarantine, which goes away with the value, or with the next quarantine when
/// the process was killed.
///
/// `.git/notes/incoming/PID-RANDOM/` holds `lock`, which its process keeps locked, and `pack/`.
final class QuarantineFolder {
  let path: String
  private let lock: Int32

  /// The folder of objects: `objects/pack` is where packs are found.
  var objects: String { path + "/objects" }
  var packs: String { path + "/objects/pack" }

  static func root(of repository: Repository) -> String {
    repository.gitFolder + "/notes/incoming"
  }

  init(for repository: Repository) throws {
    let root = Self.root(of: repository)
    try Self.makeFolder(repository.gitFolder + "/notes")
    try Self.makeFolder(root)
    let path = root + "/\(getpid())-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // Nobody cleans up while the folder is there and not locked yet.
    let lock = try Self.withLock(on: root) {
      try Self.makeFolder(path)
      let lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
        throw GitError.system(call: "lock", path: path + "/lock", errno: errno)
      }
      return lock
    }
    self.path = path
    self.lock = lock
    try Self.makeFolder(objects)
    try Self.makeFolder(packs)
  }

  deinit {
    Self.remove(path)
    if lock >= 0 { close(lock) }
  }

  /// Removes the folders of processes that were killed.
  static func removeLeftovers(in repository: Repository) {
    let root = root(of: repository)
    try? withLock(on: root) {
      for name in names(in: root) {
        let folder = root + "/" + name
        let lock = open(folder + "/lock", O_RDWR | O_CLOEXEC)
        if lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(folder) }
        if lock >= 0 { close(lock) }
      }
    }
  }

  /// Runs `body` while no other thread or process makes or removes folders there.
  private static func withLock<Result>(
    on root: String, _ body: () throws -> Result
  ) throws -> Result {
    let descriptor = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw GitError.system(call: "open", path: root, errno: errno) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw GitError.system(call: "flock", path: root, errno: errno) }
    }
    return try body()
  }

  /// Makes a folder where there is none.
  static func makeFolder(_ path: String, mode: mode_t = 0o700) throws {
    guard mkdir(path, mode) == 0 || errno == EEXIST else {
      throw GitError.system(call: "mkdir", path: path, errno: errno)
    }
  }

  /// The names in a folder; none when it can't be listed.
  static func names(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var found: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { found.append(name) }
    }
    return found
  }

  /// Removes a file, or a folder with everything in it, as far as that goes.
  static func remove(_ path: String) {
    // Files first: unlink refuses folders.
    if unlink(path) == 0 { return }
    for name in names(in: path) { remove(path + "/" + name) }
    rmdir(path)
  }
}

extension QuarantineFolder {
  /// Writes what the system holds of a file, or of a folder's list of names, to the disk.
  static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw GitError.system(call: "fsync", path: path, errno: errno)
    }
  }

  /// Moves a file.
  static func move(_ old: String, to new: String) throws {
    guard rename(old, new) == 0 else {
      throw GitError.system(call: "rename", path: new, errno: errno)
    }
  }

  /// The content of a file.
  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: path, errno: errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw GitError.system(call: "fstat", path: path, errno: errno)
    }
    // One byte more than the size shows the end of the file without a second call.
    var content = [UInt8](repeating: 0, count: max(Int(status.st_size) + 1, 512))
    var filled = 0
    while true {
      let count = content.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw GitError.system(call: "read", path: path, errno: errno)
      }
      if count == 0 { break }
      filled += count
      if filled == content.count {
        content.append(contentsOf: repeatElement(0, count: content.count))
      }
    }
    content.removeLast(content.count - filled)
    return content
  }
}
