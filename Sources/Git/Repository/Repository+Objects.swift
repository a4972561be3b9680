extension Repository {
  /// Whether the object is in the repository.
  public func contains(_ id: ObjectID) throws -> Bool { try objects.contains(id) }

  /// The object's kind and its size in bytes, read without unpacking it.
  public func header(of id: ObjectID) throws -> (kind: ObjectKind, size: Int) {
    try objects.header(of: id)
  }

  /// The object's kind and content.
  public func object(_ id: ObjectID) throws -> StoredObject { try objects.object(id) }

  /// The content of an object of that kind.
  func data(of id: ObjectID, kind: ObjectKind) throws -> [UInt8] {
    let object = try objects.object(id)
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
    if objects.pending == nil {
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
    guard (4...40).contains(prefix.utf8.count) else { return nil }
    let found = try objects.objects(withPrefix: prefix)
    if found.count > 1 { throw GitError.ambiguousPrefix(prefix) }
    return found.first
  }

  /// Stores an object with this content, durably, and returns its ID.
  public func write(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    try objects.write(kind, content)
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

  /// Lets `body` write objects without waiting for the disk at each: it is waited for once, when
  /// `body` is done, and only then do the objects join the repository. What a power cut leaves there
  /// is whole. Until then only this instance sees them, and only by their IDs.
  ///
  /// `body` moves no reference. A call inside another's `body` is part of that.
  ///
  /// - Parameter isBeforeMove: leave the last wait, for the objects' names, to the move of a reference
  ///   that follows, or to `syncPendingObjects`: it then waits for the reference's files as well.
  public func withBatchedWrites<Result>(
    isBeforeMove: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    try objects.withBatchedWrites(isBeforeMove: isBeforeMove, body)
  }

  /// Waits until the names of all objects stored so far are on the disk.
  public func syncPendingObjects() throws { try objects.syncPending() }
}
