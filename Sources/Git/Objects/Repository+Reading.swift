internal import CLibgit2
internal import Glibc
internal import System

// Objects are searched in this order: pending objects, packs, loose objects, and libgit2, which
// also finds borrowed objects and packs of other forms. Content is accepted only if it has the
// requested ID.
extension Repository {
  /// Whether the object is in the repository.
  public func contains(_ id: ObjectID) throws -> Bool {
    if id == .emptyTree || pending?.contains(id) == true || cache[id] != nil { return true }
    if packed?.contains(id) == true { return true }
    let found: Void? = try look({ loose.contains(id) ? () : nil }) { $0.contains(id) ? () : nil }
    if found != nil { return true }
    guard try !isWhole else { return false }
    let git = try handles()
    var oid = git_oid(id)
    return git.api.git_odb_exists(git.database, &oid) == 1
  }

  /// The objects among `ids` that are not in the repository. New packs of other programs are looked
  /// for once, not once for each object.
  package func lacking(_ ids: [ObjectID]) throws -> [ObjectID] {
    guard pending == nil, packed == nil else { return try ids.filter { try !contains($0) } }
    func absent(_ ids: [ObjectID]) throws -> [ObjectID] {
      let packs = try packs()
      return ids.filter { !packs.contains($0) && !loose.contains($0) && $0 != .emptyTree }
    }
    var missing = try absent(ids)
    if !missing.isEmpty, refreshPacks() { missing = try absent(missing) }
    return try isWhole ? missing : missing.filter { try !contains($0) }
  }

  /// The object's kind and its size in bytes, read without unpacking it.
  public func header(of id: ObjectID) throws -> (kind: ObjectKind, size: Int) {
    if let object = try waiting(id) ?? cache[id] {
      return (object.kind, object.data.count)
    }
    if let found = try look({ loose.header(of: id) }, packed: { $0.header(of: id) }) {
      return found
    }
    let git = try handles()
    var oid = git_oid(id)
    var size = 0
    var type = GIT_OBJECT_INVALID
    try check(
      "git_odb_read_header", id, git.api.git_odb_read_header(&size, &type, git.database, &oid))
    return (try Self.kind(type, of: id), size)
  }

  /// The object's kind and content.
  public func object(_ id: ObjectID) throws -> StoredObject { try object(id, isReadOnce: false) }

  private func object(_ id: ObjectID, isReadOnce: Bool) throws -> StoredObject {
    if id == .emptyTree { return (.tree, []) }
    // Storing a pending object may still fail, so it is not put into the cache.
    if let object = try waiting(id) ?? cache[id] { return object }
    // A caller that only forwards the bytes, or writes them to a file, needs no comparison with the ID: zlib's checksum
    // suffices.
    let found = try look({ try loose.object(id) }) { packs in
      try packs.object(id).flatMap { try isReadOnce || ObjectID.matches(id, $0) ? $0 : nil }
    }
    let object = try found ?? libraryObject(id)
    if object.kind != .commit, !isReadOnce { cache.keep(object, for: id) }
    return object
  }

  /// An object that is being stored, or is only in memory.
  private func waiting(_ id: ObjectID) throws -> StoredObject? {
    try pending?.object(id) ?? packed?.object(id) ?? scratch.object(id)
  }

  func data(
    of id: ObjectID, kind: ObjectKind, isReadOnce: Bool = false
  ) throws -> [UInt8] {
    let object = try object(id, isReadOnce: isReadOnce)
    guard object.kind == kind else { throw GitError.wrongKind(id, expected: kind) }
    return object.data
  }

  /// The content of a blob.
  public func blob(_ id: ObjectID) throws -> [UInt8] { try data(of: id, kind: .blob) }

  /// The content of a blob that is read only once; it is not cached.
  package func blobReadOnce(_ id: ObjectID) throws -> [UInt8] {
    try data(of: id, kind: .blob, isReadOnce: true)
  }

  /// The content of a tree.
  public func tree(_ id: ObjectID) throws -> Tree {
    try Tree(parsing: data(of: id, kind: .tree), id: id)
  }

  /// The content of a commit.
  public func commit(_ id: ObjectID) throws -> Commit {
    if let known = recentCommits.last(where: { $0.id == id }) { return known }
    let commit = try Commit(parsing: data(of: id, kind: .commit), id: id)
    // Storing a pending object may still fail, so only other commits are remembered.
    if pending == nil, packed == nil { recentCommits = Array(recentCommits.suffix(3)) + [commit] }
    return commit
  }

  /// The only object whose ID begins with `prefix` (4 to 40 hexadecimal digits); nil if there is
  /// none.
  public func object(withPrefix prefix: String) throws -> ObjectID? {
    let count = prefix.utf8.count
    guard (4...40).contains(count),
      let first = ObjectID(hex: prefix + String(repeating: "0", count: 40 - count))
    else { return nil }
    if try isWhole {
      let digits = prefix.lowercased()
      let found = try Set(packs().ids(from: first) { $0.hex.hasPrefix(digits) })
        .union(loose.ids(inFolder: first.firstByte).filter { $0.hex.hasPrefix(digits) })
      if found.count > 1 { throw GitError.ambiguousPrefix(prefix) }
      if let id = found.first { return id }
    }
    let git = try handles()
    var short = git_oid(first)
    var full = git_oid()
    let status = git.api.git_odb_exists_prefix(&full, git.database, &short, count)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    if status == GIT_EAMBIGUOUS.rawValue { throw GitError.ambiguousPrefix(prefix) }
    try git.check("git_odb_exists_prefix", status)
    return full.objectID
  }

  private func look<Found>(
    _ loose: () throws -> Found?, packed: (PackReader) throws -> Found?
  ) throws -> Found? {
    if let found = try packed(packs()) ?? loose() { return found }
    // Other programs may have stored or repacked the object in the meantime.
    refreshPacks()
    return try packed(packs()) ?? loose()
  }

  /// Whether the packs and loose files are all objects of the repository. If not, libgit2 may find more.
  private var isWhole: Bool {
    get throws {
      try packs().isWhole
        && Counted.access(loose.folder + "/info/alternates", F_OK) != 0
    }
  }

  func packs() throws -> PackReader {
    if let packReader { return packReader }
    packNames = packFiles
    let reader = try PackReader(packNames.map(packPath))
    packReader = reader
    return reader
  }

  /// Opens new packs of other programs; returns whether any pack was added or removed. The known
  /// packs are reopened only if one was removed, because a watcher gets a pack with each version.
  @discardableResult private func refreshPacks() -> Bool {
    let names = packFiles
    if names == packNames { return false }
    let former = Set(packNames)
    if former.isSubset(of: names) {
      packReader?.add(names.filter { !former.contains($0) }.map(packPath))
      packNames = names
    } else {
      packReader = nil
    }
    return true
  }

  private func packPath(_ index: String) -> String { packFolder + "/" + index.dropLast(4) }

  private var packFiles: [String] {
    Disk.namesIfAny(in: packFolder).filter { $0.hasSuffix(".idx") }.sorted()
  }

  func libraryObject(_ id: ObjectID) throws -> StoredObject {
    let git = try handles()
    var oid = git_oid(id)
    var object: OpaquePointer?
    try check("git_odb_read", id, git.api.git_odb_read(&object, git.database, &oid))
    defer { git.api.git_odb_object_free(object) }
    let kind = try Self.kind(git.api.git_odb_object_type(object), of: id)
    let bytes = UnsafeRawBufferPointer(
      start: git.api.git_odb_object_data(object), count: git.api.git_odb_object_size(object))
    return (kind, Array(bytes))
  }

  private func check(_ call: String, _ id: ObjectID, _ status: Int32) throws {
    if status == GIT_ENOTFOUND.rawValue { throw GitError.missing(id) }
    try handles().library.check(call, status)
  }

  private static func kind(_ type: git_object_t, of id: ObjectID) throws -> ObjectKind {
    guard let kind = ObjectKind(rawValue: type.rawValue) else {
      throw GitError.malformed(id, "unknown object type \(type.rawValue)")
    }
    return kind
  }
}
