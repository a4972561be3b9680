internal import Glibc
internal import State
internal import System

/// Second names of the objects that were stored a moment ago: hard links in `.git/notes/fresh`.
///
/// git-prune(1), and so `git gc --prune=now`, removes objects that no reference led to when it began to look.
/// It may remove those of a save whose reference has moved since. No order of steps prevents that, as it
/// takes no lock; so what it removed is put back.
struct FreshObjects {
  private let root: String
  private let loose: LooseObjects
  /// The folder for what is stored now: one for so many seconds.
  private let folder: String

  /// How long the names stay at least, in seconds: longer than git looks before it removes.
  private static let seconds: Int64 = 300
  private static let temporary = "tmp_"
  /// How old a file is that nobody is writing any more, in seconds.
  private static let longestWriting = 86_400
  private static let attempts = 5

  init(in state: StateFolder, loose: LooseObjects) {
    root = state[.fresh]
    self.loose = loose
    folder = "\(root)/\(WallClock.now() / Self.seconds)"
  }

  /// A path for an object's file until it is whole, which git does not remove.
  func temporaryPath() -> String {
    folder + "/" + Self.temporary + String(UInt64.random(in: 0...UInt64.max), radix: 36)
  }

  func makeFolder() throws {
    try Disk.makeFolder(Disk.parent(of: root), mode: 0o700)
    try Disk.makeFolder(root, mode: 0o700)
    try Disk.makeFolder(folder, mode: 0o700)
  }

  /// Gives a whole object its name among the others, and keeps a second one where the file system can.
  ///
  /// - Returns: whether a folder was made for it.
  func join(_ temporary: String, as id: ObjectID) throws -> Bool {
    link(temporary, folder + "/" + id.hex)
    let path = loose.path(of: id)
    if rename(temporary, path) == 0 { return false }
    switch errno {
    case ENOENT:
      try Disk.makeFolder(Disk.parent(of: path), mode: 0o777)
      try Disk.rename(temporary, to: path)
      return true
    case EXDEV:
      // The objects are on another file system than the rest of the repository.
      try Disk.makeFolder(Disk.parent(of: path), mode: 0o777)
      try Disk.replace(path, with: Disk.read(temporary))
      unlink(temporary)
      return true
    default: throw GitError.system(call: "rename", path: path, errno: errno)
    }
  }

  /// Keeps a second name of an object that is there.
  func protect(_ id: ObjectID) {
    let name = folder + "/" + id.hex
    if link(loose.path(of: id), name) != 0, errno == ENOENT, (try? makeFolder()) != nil {
      link(loose.path(of: id), name)
    }
  }

  /// The objects with second names, and the files.
  func all() -> [(id: ObjectID, file: String)] {
    Disk.namesIfAny(in: root).flatMap { name in
      Disk.namesIfAny(in: "\(root)/\(name)").compactMap { file in
        ObjectID(hex: file).map { ($0, "\(root)/\(name)/\(file)") }
      }
    }
  }

  func file(of id: ObjectID) -> String? {
    Disk.namesIfAny(in: root).lazy.map { "\(root)/\($0)/\(id.hex)" }
      .first { Counted.access($0, F_OK) == 0 }
  }

  /// Puts an object back that git removed. It may just be removing the empty folder.
  func restore(_ id: ObjectID, from file: String) throws {
    var attempt = 1
    while true {
      do {
        try putBack(loose.path(of: id), from: file)
        return
      } catch {
        guard case GitError.system(_, _, let code) = error, code == ENOENT, attempt < Self.attempts
        else { throw error }
      }
      attempt += 1
    }
  }

  private func putBack(_ path: String, from file: String) throws {
    try Disk.makeFolder(Disk.parent(of: path), mode: 0o777)
    guard link(file, path) == 0 || errno == EEXIST else {
      throw GitError.system(call: "link", path: path, errno: errno)
    }
    try Disk.sync(folder: Disk.parent(of: path))
  }

  /// Removes the names of what was stored long ago; none that another process is still writing.
  func removeOld() {
    let number = WallClock.now() / Self.seconds
    for name in Disk.namesIfAny(in: root) where Int64(name) != number && Int64(name) != number - 1 {
      let old = root + "/" + name
      let isWritten = Disk.namesIfAny(in: old).contains { file in
        var status = stat()
        return file.hasPrefix(Self.temporary) && Counted.lstat(old + "/" + file, &status) == 0
          && WallClock.age(of: status) < Self.longestWriting
      }
      if !isWritten { Disk.removeTree(old) }
    }
  }
}

extension Repository {
  var fresh: FreshObjects { FreshObjects(in: stateFolder, loose: loose) }

  /// Puts back objects that this device stored in the last minutes and that git's housekeeping has removed
  /// since: it began to look before a reference led to them.
  public func restoreFreshObjects() throws {
    guard isOfCommonForm else { return }
    let absent = fresh.all().filter { !loose.contains($0.id) }
    if !absent.isEmpty {
      refreshPacks()
      let packs = try packs()
      for (id, file) in absent where !packs.contains(id) { try fresh.restore(id, from: file) }
    }
    fresh.removeOld()
  }

  /// The object, if git's housekeeping has just removed it; it is put back.
  func restored(_ id: ObjectID) throws -> StoredObject? {
    guard isOfCommonForm, let file = fresh.file(of: id) else { return nil }
    try fresh.restore(id, from: file)
    return loose.object(id)
  }
}
