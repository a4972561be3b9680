public import Git
internal import Glibc
public import History
internal import Merge
public import WorkTree

/// What a save did.
public struct SaveResult: Codable, Sendable {
  /// The new version, or nil when nothing differed from the last.
  public let version: ObjectID?
  /// What differed, by path.
  public let changes: [Change]
  /// Files that are not versioned, and why.
  public let skipped: [SkippedFile]
}

extension Notebook {
  /// Makes a version of what the folder holds now, if it differs from the last one.
  ///
  /// - Parameters:
  ///   - message: what the version is called; made from the changes when nil.
  ///   - paths: only these files or folders; all when empty. A named deletion is intentional;
  ///     the guard does not apply.
  ///   - allowsMassDeletion: let more than half of the notes be deleted.
  ///   - operation: what the save is called in the log of operations.
  ///   - progress: called while many files are stored.
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

  /// Makes a version of what differs from the last one within `scope`; see `save(message:only:…)`.
  public func save(_ scope: SaveScope) throws -> SaveResult {
    try withWriterLock { try $0.save(scope: scope) }
  }
}
