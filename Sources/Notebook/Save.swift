public import Git
internal import Glibc
public import History
internal import State
internal import System
public import WorkTree

/// The differences between the folder and the history.
public struct NotebookStatus: Sendable {
  /// The identity of the notebook and of this device.
  public let identity: NotebookIdentity
  /// The version in the device's folder.
  public let state: NotebookState
  /// The differences from the last version, by path.
  public let changes: [Change]
  /// The differences between git's staged changes and the last version, by path; a save includes
  /// them.
  public let staged: [Change]
  /// The mass deletion for which a save would stop and ask; nil if it would not.
  public let massDeletion: MassDeletion?
  /// Files that are not versioned, and why, by path.
  public let skipped: [SkippedFile]
  /// How many notes in the folder the ignore rules leave out.
  public let ignoredNotes: Int
  /// The branch for new versions; nil if HEAD is detached.
  public let branch: String?
  /// The git operation in progress. Until it ends, a save does nothing.
  public let gitOperation: UnfinishedOperation?
  /// Files that git could not merge. Until a person has merged them, a save does nothing.
  public let unmerged: [TreePath]
  /// Files that have another name on the disk, by path: a checkout separates the two.
  public let hardLinks: [TreePath]
  /// Whether an interrupted checkout waits for the next command that writes.
  public let isInterrupted: Bool
  /// Objects that the history needs and the repository lacks: texts of the latest version, and objects
  /// recorded earlier.
  public let missing: [ObjectID]
}

/// The size of a mass deletion.
public struct MassDeletion: Hashable, Sendable {
  /// How many notes would be deleted.
  public let deleted: Int
  /// How many notes there are.
  public let total: Int
}

extension Notebook {
  /// The differences between the folder and the history. Takes no lock and changes nothing.
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
  /// The new version; nil if nothing differed from the last.
  public let version: ObjectID?
  /// The differences, by path.
  public let changes: [Change]
  /// Files that are not versioned, and why.
  public let skipped: [SkippedFile]
  /// The base of each save of a note that checkouts had changed lately.
  package let remarks: [SaveRemark]
  /// The notices about these saves for people.
  public let news: [SaveNews]

  /// The notes whose saves were based on an older text and merged with the text of a checkout.
  public var mergedPaths: [TreePath] { remarks.filter { $0.base != nil }.map(\.path) }
}

extension Notebook {
  /// Saves the folder's present state as a version, if it differs from the last one.
  ///
  /// - Parameters:
  ///   - message: if nil, it is made from the changes.
  ///   - paths: only these files or folders; all if empty. A named deletion is intentional, so the guard does
  ///     not apply to it.
  /// - Throws: `NotebookError.massDeletion`, before anything is saved.
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

  /// Saves for a session or a watcher, without a person's request. After joining, saves nothing until the
  /// notebook's first versions arrive: their rules decide which files are versioned.
  ///
  /// - Returns: nil while it waits for them.
  public func autosave(
    _ scope: SaveScope = .everything, allowsMassDeletion: Bool = false,
    progress: SaveProgress = { _, _ in }
  ) throws -> SaveResult? {
    if awaitsVersions { return nil }
    return try withWriterLock {
      try $0.save(allowsMassDeletion: allowsMassDeletion, scope: scope, progress: progress)
    }
  }

  /// True from joining until the notebook's first versions arrive.
  package var awaitsVersions: Bool { Counted.access(stateFolder[.awaiting], F_OK) == 0 }

  /// Lets sessions and watchers save from now on if this device already has the heads that another device shows, or
  /// if the other device has none.
  package func stopAwaitingVersions(unlessNew heads: [ObjectID] = []) throws {
    if !heads.isEmpty {
      guard let tip = try state().tip else { return }
      for head in heads {
        guard try repository.contains(head), try repository.isAncestor(head, of: tip) else {
          return
        }
      }
    }
    try Disk.remove(stateFolder[.awaiting])
  }

  /// The newest version of a note that this device made since the tip was `former`; nil if there is
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
}
