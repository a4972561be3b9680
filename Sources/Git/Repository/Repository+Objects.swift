internal import CLibgit2
internal import Glibc

extension Repository {
  /// Whether the object is in the repository.
  public func contains(_ id: ObjectID) throws -> Bool {
    if id == .emptyTree || newObjects?.contains(id) == true || isPacked(id) { return true }
    if !isOpened, isOfCommonForm, access(path(ofLoose: id), F_OK) == 0 { return true }
    let git = try handles()
    var oid = git_oid(id)
    return git.library.api.git_odb_exists(git.database, &oid) == 1
  }

  /// Whether a look at the packs finds the object. There may be others by now.
  private func isPacked(_ id: ObjectID) -> Bool { packedObjects?.contains(id) == true }

  /// The object's kind and its size in bytes, read without unpacking it.
  public func header(of id: ObjectID) throws -> (kind: ObjectKind, size: Int) {
    if let object = newObjects?.object(id) { return (object.kind, object.data.count) }
    let git = try handles()
    var oid = git_oid(id)
    var size = 0
    var type = GIT_OBJECT_INVALID
    let status = git.library.api.git_odb_read_header(
      &size, &type, git.database, &oid)
    if status == GIT_ENOTFOUND.rawValue { throw GitError.missing(id) }
    try git.library.check("git_odb_read_header", status)
    guard let kind = ObjectKind(rawValue: type.rawValue) else {
      throw GitError.malformed(id, "unknown object type \(type.rawValue)")
    }
    return (kind, size)
  }

  /// The object's kind and content.
  public func object(_ id: ObjectID) throws -> (kind: ObjectKind, data: [UInt8]) {
    if id == .emptyTree { return (.tree, []) }
    if let object = newObjects?.object(id) { return object }
    // The last versions' objects mostly have files of their own, which cost no library to read.
    if !isOpened, isOfCommonForm,
      let object = LooseObject.read(path(ofLoose: id), id: id, hashed: false)
    {
      return object
    }
    if let object = packedObjects?.object(id) { return object }
    let git = try handles()
    var oid = git_oid(id)
    var object: OpaquePointer?
    let status = git.library.api.git_odb_read(&object, git.database, &oid)
    if status == GIT_ENOTFOUND.rawValue { throw GitError.missing(id) }
    try git.library.check("git_odb_read", status)
    defer { git.library.api.git_odb_object_free(object) }
    let type = git.library.api.git_odb_object_type(object)
    guard let kind = ObjectKind(rawValue: type.rawValue) else {
      throw GitError.malformed(id, "unknown object type \(type.rawValue)")
    }
    let bytes = UnsafeRawBufferPointer(
      start: git.library.api.git_odb_object_data(object),
      count: git.library.api.git_odb_object_size(object))
    return (kind, Array(bytes))
  }

  /// The content of an object of that kind.
  func data(of id: ObjectID, kind: ObjectKind) throws -> [UInt8] {
    let object = try object(id)
    guard object.kind == kind else { throw GitError.wrongKind(id, expected: kind) }
    return object.data
  }

  /// The content of a blob.
  public func blob(_ id: ObjectID) throws -> [UInt8] { try data(of: id, kind: .blob) }

  /// The content of a tree.
  public func tree(_ id: ObjectID) throws -> Tree {
    try Tree(parsing: data(of: id, kind: .tree), id: id)
  }

  /// The content of a commit.
  public func commit(_ id: ObjectID) throws -> Commit {
    if let known = recentCommits.last(where: { $0.id == id }) { return known }
    let commit = try Commit(parsing: data(of: id, kind: .commit), id: id)
    // What is only about to be stored may yet fail to be.
    if newObjects == nil {
      if recentCommits.count == Self.mostRecentCommits { recentCommits.removeFirst() }
      recentCommits.append(commit)
    }
    return commit
  }

  /// More than a command has in hand at once.
  private static let mostRecentCommits = 4

  /// The only object whose ID begins with `prefix` (4 to 40 hexadecimal digits), or nil when there
  /// is none.
  public func object(withPrefix prefix: String) throws -> ObjectID? {
    guard (4...40).contains(prefix.utf8.count),
      let padded = ObjectID(hex: prefix + String(repeating: "0", count: 40 - prefix.utf8.count))
    else { return nil }
    switch packedObjects?.objects(withPrefix: prefix) {
    case let found? where found.count > 1: throw GitError.ambiguousPrefix(prefix)
    case let found? where found.count == 1: return found[0]
    default: break
    }
    let git = try handles()
    var short = git_oid(padded)
    var full = git_oid()
    let status = git.library.api.git_odb_exists_prefix(
      &full, git.database, &short, prefix.utf8.count)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    if status == GIT_EAMBIGUOUS.rawValue { throw GitError.ambiguousPrefix(prefix) }
    try git.library.check("git_odb_exists_prefix", status)
    return full.objectID
  }

  private static let largeContent = 1 << 18

  /// Stores an object with this content, durably, and returns its ID.
  public func write(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    if let newObjects {
      // What is in a pack is not looked for, unless writing it again costs more than that.
      if kind == .blob, content.count > Self.largeContent {
        let id = try hash(blob: content)
        if try contains(id) { return id }
      }
      return try newObjects.add(kind, content)
    }
    if !isOpened, isOfCommonForm {
      let id = try ObjectID.hashing(kind, content)
      return isPacked(id) ? id : try storingTogether { try write(kind, content) }
    }
    let git = try handles()
    var oid = git_oid()
    _ = try content.withUnsafeBytes { bytes in
      try git.library.check(
        "git_odb_write",
        git.library.api.git_odb_write(
          &oid, git.database, bytes.baseAddress, bytes.count,
          git_object_t(kind.rawValue)))
    }
    return oid.objectID
  }

  /// Stores a tree of this content unless the repository has it, and returns its ID. What is there is
  /// taken to be on the disk.
  public func keep(tree content: [UInt8]) throws -> ObjectID {
    let id = try ObjectID.hashing(.tree, content)
    return try contains(id) ? id : write(.tree, content)
  }

  /// Stores a blob.
  public func write(blob content: [UInt8]) throws -> ObjectID { try write(.blob, content) }

  /// Stores a tree with these entries, in any order, and returns its ID.
  public func write(tree entries: [TreeEntry]) throws -> ObjectID {
    try write(.tree, Tree(entries: entries).serialized)
  }

  /// Stores a commit and returns its ID; no reference moves.
  public func write(
    commit tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature,
    message: String
  ) throws -> ObjectID {
    // Which is known without being there; but git-fsck(1) wants it there.
    if tree == .emptyTree { _ = try write(.tree, []) }
    return try write(
      .commit,
      Commit.serialized(
        tree: tree, parents: parents, author: author, committer: committer, message: message))
  }

  /// The ID that `content` would have as a blob; nothing is stored.
  public func hash(blob content: [UInt8]) throws -> ObjectID {
    try ObjectID.hashing(.blob, content)
  }

  /// Looks for packs that other processes added.
  public func refreshObjects() throws {
    guard isOpened else { return }
    let git = try handles()
    try git.library.check("git_odb_refresh", git.library.api.git_odb_refresh(git.database))
  }
}
