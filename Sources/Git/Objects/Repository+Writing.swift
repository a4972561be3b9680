internal import System

extension Repository {
  /// Larger content is searched in the packs first, which costs less than storing it again.
  private static var largeContent: Int { 1 << 18 }

  /// Stores an object with this content, durably, and returns its ID.
  ///
  /// - Throws: `GitError.objectTooLarge` if other devices would refuse it: notes-protocol(7), PACKS.
  public func write(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    try write(kind, content, of: nil)
  }

  /// - Parameter folder: the folder of a tree.
  func write(_ kind: ObjectKind, _ content: [UInt8], of folder: TreePath?) throws -> ObjectID {
    try PackLimits.standard.check(kind, bytes: content.count)
    if let packed {
      let id = try ObjectID.hashing(kind, content)
      if try !contains(id) { packed.add(kind, content, id: id, of: folder) }
      try storePackedIfFull()
      return id
    }
    if scratch.isOpen {
      let id = try ObjectID.hashing(kind, content)
      if try !contains(id) { scratch.add(kind, content, id: id) }
      return id
    }
    let id = try ObjectID.hashing(kind, content)
    if let pending {
      if kind == .blob, content.count > Self.largeContent, try contains(id) { return id }
      try pending.add(kind, content, id: id)
    } else if try !packs().contains(id) {
      try withBatchedWrites { try pending?.add(kind, content, id: id) }
    }
    return id
  }

  /// Stores a tree with this content unless the repository already has it, and returns its ID. Assumes that an
  /// existing tree is on the disk.
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
    try write(
      commit: tree, parents: parents, author: author, committer: committer, message: message,
      signedBy: nil)
  }

  /// Stores a commit and returns its ID. `sign` gets the rest of the commit and returns the signature, a text of
  /// several lines, which becomes the `gpgsig` header.
  public func write(
    commit tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature,
    message: String, signedBy sign: ((_ content: [UInt8]) throws -> [UInt8])?
  ) throws -> ObjectID {
    // git knows this tree without a file, but git-fsck(1) requires it to be stored.
    if tree == .emptyTree { _ = try write(.tree, []) }
    let content = Commit.serialized(
      tree: tree, parents: parents, author: author, committer: committer, message: message)
    guard let sign else { return try write(.commit, content) }
    return try write(.commit, SignedCommit(content: content, signature: sign(content)).serialized)
  }

  /// The ID that `content` would have as a blob; stores nothing.
  public func hash(blob content: [UInt8]) throws -> ObjectID {
    try ObjectID.hashing(.blob, content)
  }

  /// Runs `body`, which must not move a reference, then syncs all objects that it writes together. Only then
  /// are they part of the repository, complete even after a power cut. A nested call joins the outer one.
  ///
  /// - Parameter isBeforeMove: whether to wait for the objects' names only at the next move of a reference, or
  ///   in `syncPendingObjects`.
  public func withBatchedWrites<Result>(
    isBeforeMove: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    guard pending == nil, packed == nil else { return try body() }
    let objects = try PendingObjects(in: loose)
    pending = objects
    defer { pending = nil }
    let result = try body()
    // If nothing was stored now, objects that were stored earlier may still wait for a move of a reference.
    if objects.isEmpty { return result }
    try syncPendingObjects()
    try objects.join()
    unsynced = objects
    if !isBeforeMove { try syncPendingObjects() }
    return result
  }

  /// Waits until the names of all objects stored so far are on the disk.
  public func syncPendingObjects() throws {
    try unsynced?.syncNames()
    unsynced = nil
  }
}
