internal import CLinux
internal import Glibc
internal import System

/// Objects being stored, in files with temporary names until all are on the disk. Otherwise a power
/// cut could leave an incomplete object that counts as stored and is never stored again. All
/// objects share one wait; writing to the disk begins when an object is complete.
final class PendingObjects {
  private let loose: LooseObjects
  private let deflater: Deflater
  private var files: [File] = []
  private var places: [ObjectID: Int] = [:]
  /// A file, the next index, that is synced together with the objects.
  private var companion: (path: String, descriptor: Int32)?
  /// Whether every file is still open and will be synced individually.
  private var isSyncedSingly = true
  private var hasNewFolder = false
  /// The folders whose lists of names are not on the disk yet.
  private var unsynced: Set<String> = []

  private struct File {
    let id: ObjectID
    let path: String
    /// The temporary file with the object; nil if the object was already stored.
    var temporary: String?
    var descriptor: Int32
  }

  // For more than a few files, one sync of the file system is cheaper than one for each file.
  private static let oneSyncThreshold = 16
  /// Trees of at least this size, in bytes, are not compressed. IDs do not compress, and the tree is soon
  /// packed as a delta. Compressing the tree of 10,000 notes would take as long as the rest of a save.
  private static let largeTree = 4096
  /// How often a folder is made again if git removes it while it is empty.
  private static let tries = 100
  /// The largest text, in bytes, that is compressed before it is written: for a larger one, memory
  /// would need both copies.
  private static let writeSize = 1 << 20

  init(in loose: LooseObjects) throws {
    self.loose = loose
    deflater = try Deflater(level: Deflater.fastest)
  }

  deinit {
    closeAll()
    if let companion { close(companion.descriptor) }
    for file in files { if let temporary = file.temporary { unlink(temporary) } }
  }

  var isEmpty: Bool { files.isEmpty && companion == nil }

  func contains(_ id: ObjectID) -> Bool { places[id] != nil }

  func object(_ id: ObjectID) throws -> StoredObject? {
    try places[id].flatMap { try LooseObjects.read(files[$0].temporary ?? files[$0].path, id: id) }
  }

  func add(_ kind: ObjectKind, _ content: [UInt8], id: ObjectID) throws {
    guard places[id] == nil else { return }
    let path = loose.path(of: id)
    if try LooseObjects.read(path, id: id) != nil {
      // git may have written this file without syncing it, and may be packing it now.
      let descriptor = Counted.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 || errno == ENOENT else {
        throw GitError.system(call: "open", path: path, errno: errno)
      }
      if descriptor >= 0 {
        remember(File(id: id, path: path, temporary: nil, descriptor: descriptor))
        return
      }
    }
    let folder = Disk.parent(of: path)
    // git gives its temporary files such names, so git gc removes those that a killed process left.
    let temporary = folder + "/tmp_obj_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    var descriptor = Self.create(temporary)
    for _ in 0..<Self.tries where descriptor < 0 && errno == ENOENT {
      try Disk.makeFolder(folder, mode: 0o777)
      hasNewFolder = true
      descriptor = Self.create(temporary)
    }
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: temporary, errno: errno)
    }
    remember(File(id: id, path: path, temporary: temporary, descriptor: descriptor))
    let isLargeTree = kind == .tree && content.count >= Self.largeTree
    let deflater = isLargeTree ? try Deflater(level: Deflater.none) : self.deflater
    var file: [UInt8] = []
    try deflater.compress(content, after: LooseObjects.header(kind, size: content.count)) {
      file += $0
      if file.count >= Self.writeSize {
        try Disk.write(file, to: descriptor, path: temporary)
        file.removeAll(keepingCapacity: true)
      }
    }
    try Disk.write(file, to: descriptor, path: temporary)
    Counted.startWriting(descriptor)
    if !isSyncedSingly { closeAll() }
  }

  /// Writes a file under a temporary name, replacing the leftover of a killed process.
  func add(companion path: String, _ content: [UInt8], mode: mode_t) throws {
    unlink(path)
    let descriptor = try Disk.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    companion = (path, descriptor)
    try Disk.write(content, to: descriptor, path: path)
    Counted.startWriting(descriptor)
  }

  /// Adds the objects to the repository after their contents are on the disk; their names are on
  /// the disk after `syncNames`.
  func join() throws {
    guard !isEmpty else { return }
    if let companion {
      try Disk.sync(companion.descriptor, path: companion.path)
      close(companion.descriptor)
      self.companion = nil
    }
    if isSyncedSingly {
      for file in files { try Disk.sync(file.descriptor, path: file.path) }
    } else {
      try Disk.syncFileSystem(of: loose.folder)
    }
    closeAll()
    if hasNewFolder { unsynced.insert(loose.folder) }
    // Stores the objects in the order of arrival: if one fails, no later object that refers to it
    // is stored.
    for position in files.indices {
      let file = files[position]
      if let temporary = file.temporary { try Disk.rename(temporary, to: file.path) }
      files[position].temporary = nil
      unsynced.insert(Disk.parent(of: file.path))
    }
    (files, places) = ([], [:])
  }

  func syncNames() throws {
    guard !unsynced.isEmpty else { return }
    var isEnough = isSyncedSingly
    // If a folder no longer exists, git has packed its objects.
    for folder in unsynced where isEnough { isEnough = try Disk.syncIfThere(folder: folder) }
    if !isEnough { try Disk.syncFileSystem(of: loose.folder) }
    unsynced = []
  }

  private static func create(_ path: String) -> Int32 {
    Counted.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444)
  }

  private func remember(_ file: File) {
    places[file.id] = files.count
    files.append(file)
    if files.count > Self.oneSyncThreshold { isSyncedSingly = false }
  }

  private func closeAll() {
    for position in files.indices where files[position].descriptor >= 0 {
      close(files[position].descriptor)
      files[position].descriptor = -1
    }
  }
}
