internal import CLinux
internal import Glibc
internal import System

/// New objects with a file each, under names that do not count until all of them are on the disk: an
/// object cut short by a power cut would count as there, and its content would never be stored.
///
/// One wait serves all of them. Writing them out begins as soon as each is complete, so that when
/// the first is synced the others are on their way.
final class NewObjects {
  private let objects: String
  private let deflater: Deflater
  private var files: [File] = []
  private var places: [ObjectID: Int] = [:]
  /// Whether every file is still open, to be synced by itself.
  private var isSyncedSingly = true
  private var hasNewFolder = false
  /// The folders whose lists of names are not on the disk yet.
  private var unsettled: Set<String> = []

  private struct File {
    let id: ObjectID
    let folder: String
    /// Where it is now; nil for an object that was there already.
    let temporary: String?
    var descriptor: Int32
  }

  // Beyond a handful of files one sync of the file system is cheaper than one a file.
  private static let oneSyncThreshold = 16

  init(in gitFolder: String) throws {
    objects = gitFolder + "/objects"
    deflater = try Deflater(level: Deflater.fastest)
  }

  deinit {
    closeAll()
    for file in files { if let temporary = file.temporary { unlink(temporary) } }
  }

  /// Whether there are none.
  var isEmpty: Bool { files.isEmpty }

  /// Whether the object is among them.
  func contains(_ id: ObjectID) -> Bool { places[id] != nil }

  /// The object, if it is among them.
  func object(_ id: ObjectID) -> (kind: ObjectKind, data: [UInt8])? {
    places[id].flatMap { place in
      LooseObject.read(files[place].temporary ?? path(of: id), id: id)
    }
  }

  /// Writes an object under a temporary name, and returns its ID.
  func add(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    let id = try ObjectID.hashing(kind, content)
    guard places[id] == nil else { return id }
    let path = path(of: id)
    let folder = String(path.prefix(objects.utf8.count + 3))
    if LooseObject.read(path, id: id) != nil {
      // It may be git's, which does not sync such files.
      let descriptor = try Disk.open(path, O_RDONLY)
      remember(File(id: id, folder: folder, temporary: nil, descriptor: descriptor))
      return id
    }
    // git's own name for such files: its collection removes those that a killed process left.
    let temporary =
      folder + "/tmp_obj_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    var descriptor = Self.create(temporary)
    if descriptor < 0, errno == ENOENT {
      try Disk.makeFolder(folder, mode: 0o777)
      hasNewFolder = true
      descriptor = Self.create(temporary)
    }
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: temporary, errno: errno)
    }
    remember(File(id: id, folder: folder, temporary: temporary, descriptor: descriptor))
    let header = LooseObject.header(kind, size: content.count)
    if kind == .tree, content.count >= TreeDeflation.smallestSize {
      try TreeDeflation.stream(header: header, tree: content).withUnsafeBytes {
        try Disk.write($0, to: descriptor, path: temporary)
      }
    } else {
      try deflater.compress([header, content]) {
        try Disk.write(UnsafeRawBufferPointer($0), to: descriptor, path: temporary)
      }
    }
    _ = notes_start_writing(descriptor)
    if !isSyncedSingly { closeAll() }
    return id
  }

  /// Makes them part of the repository when their contents are on the disk; their names are so after
  /// `settle`.
  func join() throws {
    guard !files.isEmpty else { return }
    if isSyncedSingly {
      for file in files { try Disk.sync(file.descriptor, path: path(of: file.id)) }
    } else {
      try Disk.syncFileSystem(of: objects)
    }
    closeAll()
    if hasNewFolder { unsettled.insert(objects) }
    while let file = files.last {
      if let temporary = file.temporary {
        try Disk.rename(temporary, to: path(of: file.id))
      }
      unsettled.insert(file.folder)
      files.removeLast()
    }
    places = [:]
  }

  /// Waits until the names are on the disk.
  func settle() throws {
    guard !unsettled.isEmpty else { return }
    if isSyncedSingly {
      for folder in unsettled { try Disk.sync(folder: folder) }
    } else {
      try Disk.syncFileSystem(of: objects)
    }
    unsettled = []
  }

  private func path(of id: ObjectID) -> String {
    let hex = id.hex
    return objects + "/" + hex.prefix(2) + "/" + hex.dropFirst(2)
  }

  private static func create(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444)
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
