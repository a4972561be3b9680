public import Git
internal import Glibc

extension Notebook {
  /// A note's bytes: as they stand in the folder, or in a version; as the last version has them where
  /// the folder cannot hold the note.
  public func text(of path: TreePath, at version: Commit? = nil) throws -> [UInt8] {
    if let version {
      guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
        throw NotebookError.notInVersion(path, version.id)
      }
      return try repository.blob(entry.id)
    }
    let index = try indexFile()
    if !index.leftOut.isEmpty, let position = index.position(of: path),
      index.skipsWorktree(at: position)
    {
      return try repository.blob(index.id(at: position))
    }
    switch try FileContent.read(path, in: folder, sizeLimit: .max) {
    case .read(let content): return content.bytes
    case .gone: throw NotebookError.noSuchNote(path.description)
    case .skipped(.unreadable(let number)):
      throw NotebookError.file(call: "read", path: path.description, errno: number)
    case .skipped: throw NotebookError.file(call: "read", path: path.description, errno: EAGAIN)
    }
  }

  /// Brings back a note as it was in a version, as a new version; the present text is versioned
  /// first. Returns the new version, or nil when the note is so already.
  ///
  /// - Parameter target: under this path instead of its own.
  /// - Throws: `nameTaken` when the target is to be new and is not, or when a folder has that name.
  public func restore(_ path: TreePath, from version: Commit, as target: TreePath? = nil) throws
    -> ObjectID?
  {
    try withWriterLock {
      let former = try noteVersion(at: version, of: path).path
      guard let entry = try repository.entry(at: former, in: version.tree), entry.mode.isFile else {
        throw NotebookError.notInVersion(path, version.id)
      }
      _ = try saveLocked()
      if let target { try checkIsFree(target) } else { try checkCanStand(path) }
      let title = (target ?? path).noteTitle
      let conflict = try openConflict(of: former, entry.id, in: version)
      let made = try replace(
        [target ?? path: TreeEntry(name: path.name, mode: entry.mode, id: entry.id)],
        message: "Restore \(title) from \(version.id.hex.prefix(10))",
        conflicts: conflict.map { [target ?? path: $0] } ?? [:],
        options: JoinOptions(operation: .restore))
      // Something else may stand where the last version has the note.
      if made == nil, try !isThere(path) {
        throw NotebookError.obstructed(path: path.description)
      }
      return made
    }
  }

  /// The size of a note's markers where it was in conflict in a version.
  private func openConflict(
    of path: TreePath, _ text: ObjectID, in version: Commit
  ) throws -> Int? {
    // Of a version made by hand the conflicts are known only from those before it.
    guard try MarkedText.mayHoldBlocks(repository.blob(text)) else { return nil }
    return try OpenConflicts.conflicts(at: version.id, in: repository)[path]
  }

  /// Makes a version of the tip with some files replaced (nil removes one) and brings the folder to
  /// it, for callers that hold the writer lock and have saved. Returns nil where nothing differs.
  ///
  /// - Parameters:
  ///   - trailers: lines for the message.
  ///   - conflicts: the open conflicts that come with the files.
  func replace(
    _ files: [TreePath: TreeEntry?], message: String, trailers: [String] = [],
    conflicts: [TreePath: Int] = [:], options: JoinOptions
  ) throws -> ObjectID? {
    let head = try repository.head()
    let parents = try head.commit.map { [try repository.commit($0)] } ?? []
    // A name may hold a line break, which would end the subject.
    let subject = String(message.map { $0.isNewline ? " " : $0 })
    let id = try repository.withBatchedWrites(isBeforeMove: true) { () -> ObjectID? in
      let tree = try repository.write(tree: parents.first?.tree, replacing: files)
      guard tree != parents.first?.tree else { return nil }
      return try makeVersion(
        of: tree, parents: parents, message: subject, trailers: trailers, conflicts: conflicts)
    }
    guard let id else { return nil }
    try joinLocked([id], options: options)
    return id
  }
}

extension Notebook {
  /// The last version that has a file of this path; nil when none has.
  public func lastVersion(with path: TreePath) throws -> Commit? {
    func has(_ commit: Commit) throws -> Bool {
      try repository.entry(at: path, in: commit.tree)?.mode.isFile == true
    }
    if let tip = try repository.head().commit.map({ try repository.commit($0) }), try has(tip) {
      return tip
    }
    var found: Commit?
    try forEachVersion(of: path, includesDerived: true) { version in
      let parents = try version.commit.parents.map { try repository.commit($0) }
      found = try ([version.commit] + parents).first(where: has)
      return found == nil
    }
    return found
  }

  /// Whether a file in the folder is another than a note was in a version.
  public func differs(_ path: TreePath, from note: TreePath, in version: Commit) throws -> Bool {
    let wanted = try text(of: noteVersion(at: version, of: note))
    do {
      return try text(of: path) != wanted
    } catch NotebookError.noSuchNote { return true }
  }

  /// The version of the whole notebook that `name` means: as `version(named:)`, but a date means all
  /// that was known by then (notes-restore(1)).
  public func pastVersion(named name: String) throws -> Commit {
    guard case .by(let time) = VersionName(parsing: name, now: clock.now().seconds) else {
      return try version(named: name)
    }
    return try pastTip(at: time.last, named: name)
  }
}
