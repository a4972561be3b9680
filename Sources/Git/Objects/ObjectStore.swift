internal import CLibgit2
internal import Glibc
internal import System

/// The objects of a repository: the one way to read and to store them.
///
/// The places are asked in this order: what is being stored, the objects that have files of their own,
/// the packs, and libgit2, which alone knows of objects that are borrowed from elsewhere and of packs
/// of other forms. A repository that is not of the common form is libgit2's alone. Content counts only
/// if it has the ID that was asked for.
final class ObjectStore {
  unowned let repository: Repository
  private(set) var loose: LooseObjects
  /// What is being stored while `withBatchedWrites` runs.
  var pending: PendingObjects?
  /// Objects that joined the repository and whose names may not be on the disk yet.
  var unsynced: PendingObjects?
  private var packReader: PackReader?
  /// The packs that it reads.
  private var packNames: [String] = []
  /// What was read last, but for commits.
  private var cache = ContentCache<ObjectID>(capacity: cacheCapacity)

  private static let cacheCapacity = 24 << 20

  /// The store of a repository, which it must not outlive.
  init(of repository: Repository) {
    self.repository = repository
    loose = LooseObjects(folder: repository.gitFolder + "/objects")
  }

  var packFolder: String { loose.folder + "/pack" }

  // MARK: Reading

  /// Whether the object is in one of the places.
  func contains(_ id: ObjectID) throws -> Bool {
    if id == .emptyTree || pending?.contains(id) == true || cache[id] != nil { return true }
    let found = try look {
      $0.contains(id) ? true : nil
    } packed: {
      $0.contains(id) ? true : nil
    }
    if let found { return found }
    guard try !isWhole else { return false }
    let git = try repository.handles()
    var oid = git_oid(id)
    return git.library.api.git_odb_exists(git.database, &oid) == 1
  }

  /// The object's kind and its size in bytes, read without unpacking it.
  func header(of id: ObjectID) throws -> (kind: ObjectKind, size: Int) {
    if let object = pending?.object(id) ?? cache[id] { return (object.kind, object.data.count) }
    if let found = try look({ $0.header(of: id) }, packed: { $0.header(of: id) }) { return found }
    let git = try repository.handles()
    var oid = git_oid(id)
    var size = 0
    var type = GIT_OBJECT_INVALID
    try check(
      "git_odb_read_header", id,
      git.library.api.git_odb_read_header(&size, &type, git.database, &oid))
    return (try Self.kind(type, of: id), size)
  }

  /// The object's kind and content.
  func object(_ id: ObjectID) throws -> StoredObject {
    if id == .emptyTree { return (.tree, []) }
    // What is only about to be stored may yet fail to be, and is not kept.
    if let object = pending?.object(id) { return object }
    if let object = cache[id] { return object }
    let found = try look {
      $0.object(id)
    } packed: {
      $0.object(id).flatMap { ObjectID.matches(id, $0) ? $0 : nil }
    }
    let object = try found ?? libraryObject(id)
    if object.kind != .commit { cache.keep(object, for: id) }
    return object
  }

  /// The objects whose IDs begin with these digits, two at most: more say nothing more.
  func objects(withPrefix prefix: String) throws -> [ObjectID] {
    let digits = prefix.lowercased()
    guard
      let first = ObjectID(hex: digits + String(repeating: "0", count: 40 - digits.utf8.count))
    else { return [] }
    let matches = { (id: ObjectID) in id.hex.hasPrefix(digits) }
    if try isWhole {
      try refresh()
      let found = Set(
        try packs().ids(from: first, where: matches)
          + loose.ids(inFolder: first.firstByte).filter(matches))
      return Array(found.sorted().prefix(2))
    }
    let git = try repository.handles()
    var short = git_oid(first)
    var full = git_oid()
    let status = git.library.api.git_odb_exists_prefix(
      &full, git.database, &short, digits.utf8.count)
    if status == GIT_ENOTFOUND.rawValue { return [] }
    if status == GIT_EAMBIGUOUS.rawValue { return [first, first] }
    try git.library.check("git_odb_exists_prefix", status)
    return [full.objectID]
  }

  /// Asks the objects with files of their own, then the packs.
  private func look<Found>(
    _ loose: (inout LooseObjects) -> Found?, packed: (PackReader) -> Found?
  ) throws -> Found? {
    guard repository.isOfCommonForm else { return nil }
    if let found = try loose(&self.loose) ?? packed(packs()) { return found }
    // Others may have stored it meanwhile, or have packed it anew.
    try refresh()
    return try loose(&self.loose) ?? packed(packs())
  }

  /// Whether what is not found here is nowhere.
  private var isWhole: Bool {
    get throws {
      try repository.isOfCommonForm && packs().isWhole
        && access(loose.folder + "/info/alternates", F_OK) != 0
    }
  }

  func packs() throws -> PackReader {
    if let packReader { return packReader }
    packNames = Disk.namesIfAny(in: packFolder).filter { $0.hasSuffix(".idx") }.sorted()
    let reader = try PackReader(packNames.map { packFolder + "/" + $0.dropLast(4) })
    packReader = reader
    return reader
  }

  /// Finds what others have added or packed anew since the last look.
  private func refresh() throws {
    loose.refresh()
    guard packReader != nil else { return }
    let names = Disk.namesIfAny(in: packFolder).filter { $0.hasSuffix(".idx") }.sorted()
    if names != packNames { packReader = nil }
  }

  /// The same, read by libgit2.
  func libraryObject(_ id: ObjectID) throws -> StoredObject {
    let git = try repository.handles()
    var oid = git_oid(id)
    var object: OpaquePointer?
    try check("git_odb_read", id, git.library.api.git_odb_read(&object, git.database, &oid))
    defer { git.library.api.git_odb_object_free(object) }
    let kind = try Self.kind(git.library.api.git_odb_object_type(object), of: id)
    let bytes = UnsafeRawBufferPointer(
      start: git.library.api.git_odb_object_data(object),
      count: git.library.api.git_odb_object_size(object))
    return (kind, Array(bytes))
  }

  private func check(_ call: String, _ id: ObjectID, _ status: Int32) throws {
    if status == GIT_ENOTFOUND.rawValue { throw GitError.missing(id) }
    try repository.handles().library.check(call, status)
  }

  private static func kind(_ type: git_object_t, of id: ObjectID) throws -> ObjectKind {
    guard let kind = ObjectKind(rawValue: type.rawValue) else {
      throw GitError.malformed(id, "unknown object type \(type.rawValue)")
    }
    return kind
  }

  /// Forgets what was read, and closes the packs, which others may have removed.
  func close() {
    loose.refresh()
    packReader = nil
    cache = ContentCache(capacity: Self.cacheCapacity)
  }
}
