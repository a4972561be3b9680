public import Git
public import History
public import WorkTree

/// How the folder stands to the history.
public struct NotebookStatus: Sendable {
  /// Which notebook it is, and which device this is.
  public let identity: NotebookIdentity
  /// Which version the device shows.
  public let state: NotebookState
  /// The differences from the last version, by path.
  public let changes: [Change]
  /// The differences that git has staged from the last version, by path; a save takes them, too.
  public let staged: [Change]
  /// How many notes a save would delete, of how many, where it stops and asks; nil where it does not.
  public let massDeletion: MassDeletion?
  /// Files that are not versioned, and why, by path.
  public let skipped: [SkippedFile]
  /// How many notes in the folder the ignore rules leave out.
  public let ignoredNotes: Int
  /// The branch that versions go on; nil where HEAD is detached.
  public let branch: String?
  /// The operation that git is in the middle of: nothing is saved before that ends.
  public let gitOperation: UnfinishedOperation?
  /// Files that git could not merge: nothing is saved before a person has.
  public let unmerged: [TreePath]
  /// Files that have another name on the disk, by path: a checkout parts the two.
  public let hardLinks: [TreePath]
  /// Whether an interrupted checkout waits to be finished by the next command that writes.
  public let isInterrupted: Bool
  /// Objects that the history needs and that are not here: texts of the latest version, and what was noticed
  /// before.
  public let missing: [ObjectID]
}

/// How much a save would delete.
public struct MassDeletion: Hashable, Sendable {
  /// How many notes would go.
  public let deleted: Int
  /// Of how many.
  public let total: Int
}

extension Notebook {
  /// How the folder stands to the history. Takes no lock and changes nothing.
  public func status() throws -> NotebookStatus {
    let found = try workTree.changes()
    let head = try repository.head()
    let changes = found.changes
    let changed = Set(changes.map(\.path)).subtracting(found.unmerged)
    let index = try workTree.indexFile()
    let staged = try workTree.stagedChanges(in: index, since: head).filter {
      changed.contains($0.path)
    }
    return NotebookStatus(
      identity: identity, state: try state(), changes: changes, staged: staged,
      massDeletion: try DeletionGuard(repository: repository)
        .massDeletion(in: changes, since: head.commit),
      skipped: found.skipped, ignoredNotes: found.ignoredNotes,
      branch: head.branch, gitOperation: repository.unfinishedOperation,
      unmerged: found.unmerged, hardLinks: found.hardLinks,
      isInterrupted: try CheckoutJournal.load(from: stateFolder) != nil,
      missing: try (missingObjects.all(in: repository) + missingTexts(in: index, of: head)).eachOnce
    )
  }
}

/// The result of a save.
public struct SaveResult: Codable, Sendable {
  /// The new version, or nil when nothing differed from the last.
  public let version: ObjectID?
  /// The differences, by path.
  public let changes: [Change]
  /// Files that are not versioned, and why.
  public let skipped: [SkippedFile]
  /// On which text each save was made of a note that checkouts had changed lately.
  package let remarks: [SaveRemark]
  /// The news that people are told of these.
  public let news: [SaveNews]

  /// The notes whose saves were made on an older text and merged: a checkout brought them.
  public var mergedPaths: [TreePath] { remarks.filter { $0.base != nil }.map(\.path) }
}

extension Notebook {
  /// Makes a version of what the folder holds now, if it differs from the last one.
  ///
  /// - Parameters:
  ///   - message: made from the changes when nil.
  ///   - paths: only these files or folders; all when empty. A named deletion is intentional: the guard
  ///     does not apply.
  /// - Throws: `NotebookError.massDeletion`, before anything is versioned.
  public func save(
    message: String? = nil, only paths: [TreePath] = [], allowsMassDeletion: Bool = false,
    operation: OperationKind = .save, progress: SaveProgress = { _, _ in }
  ) throws -> SaveResult {
    try withWriterLock {
      try $0.save(
        message: message, only: paths, allowsMassDeletion: allowsMassDeletion,
        operation: operation, progress: progress)
    }
  }

  /// The newest version of a note that this device made since the tip was `former`; nil where there is
  /// none.
  public func ownVersion(of path: TreePath, since former: ObjectID?) throws -> ObjectID? {
    let versions = try history.versions(of: path)
    while let version = try versions.next() {
      let id = version.commit.id
      if let former, try repository.isAncestor(id, of: former) { return nil }
      if version.deviceID == identity.device.deviceID { return id }
    }
    return nil
  }

  /// Makes a version of what differs from the last one within `scope`; see `save(message:only:…)`.
  public func save(_ scope: SaveScope, allowsMassDeletion: Bool = false) throws -> SaveResult {
    try withWriterLock { try $0.save(allowsMassDeletion: allowsMassDeletion, scope: scope) }
  }
}
