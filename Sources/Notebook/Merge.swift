public import Git
public import History
public import Merge
public import WorkTree

/// The result of merging heads.
public struct MergeOutcome: Codable, Sendable {
  /// The tip before; nil in a notebook without versions.
  public let former: ObjectID?
  /// The tip now.
  public let tip: ObjectID?
  /// The heads that the tip merges, in the order of the merge.
  public let heads: [ObjectID]
  /// The changes in the folder, by path.
  public let changes: [Change]
  /// The changed notes that are not in the folder because something else is in their place.
  public let waiting: [TreePath]
  /// Notes that are in conflict now and were not before.
  public let conflicts: [TreePath]
  /// The merge's decisions other than taking one side.
  public let reports: [MergeReport]
  /// The forgettings that this device followed in this merge, if any.
  public var followed: FollowedForgettings?
}

/// The forgettings that a device has followed, and the version that lists them.
public struct FollowedForgettings: Codable, Sendable {
  /// The version, which an admin signed.
  public let version: ObjectID
  /// The ones that the device had not followed before.
  public let lines: [ForgettingVersion.Line]
}

/// The limits of a merge.
public struct MergeOptions: Sendable {
  /// Whether more than half of the notes may be deleted.
  public var allowsMassDeletion = false
  /// Whether more than `unaskedBytes`, or more than half of the free space, may be written into the
  /// folder.
  public var allowsLarge = false
  /// How many bytes may be written into the folder without consent.
  package var unaskedBytes = 1 << 30
  /// The files that the save before the merge checks.
  public var scope = SaveScope.everything
  /// Counts the files and bytes written into the folder.
  public var meter: WorkMeter?
  /// The notes that the user wants written: if the folder refuses one of them, nothing changes.
  package var mustBeWritten: Set<TreePath> = []
  /// Whether to rewrite versions from before a forgetting for this device's history, if no other
  /// device does it.
  package var bringsOver = false
  /// The operation that merges the heads, for the log of operations.
  public var operation: OperationKind

  /// By default, the limits for heads that another device sent.
  public init(
    allowsMassDeletion: Bool = false, allowsLarge: Bool = false, scope: SaveScope = .everything,
    operation: OperationKind = .receive
  ) {
    self.allowsLarge = allowsLarge
    self.allowsMassDeletion = allowsMassDeletion
    self.scope = scope
    self.operation = operation
  }
}

extension Notebook {
  /// Merges heads whose objects are in the repository: saves the folder, merges the heads with the
  /// tip, and updates the folder. Edits made in the meantime are merged as well.
  ///
  /// - Throws: `NotebookError.massDeletion` and `.largeVersion`, before any file changes.
  public func merge(_ heads: [ObjectID], options: MergeOptions = MergeOptions()) throws
    -> MergeOutcome
  {
    try withWriterLock { transaction in
      let areFirst = awaitsVersions && !heads.isEmpty
      let scope = areFirst ? .everything : options.scope
      if !scope.isEmpty {
        try transaction.save(
          allowsMassDeletion: options.allowsMassDeletion, scope: scope,
          beforeFirst: areFirst ? heads : [])
      }
      _ = try transaction.portableRewrite.rewriteBranch()
      let result = try transaction.merge(heads, options: options)
      transaction.portableRewrite.remember(result.tip)
      if areFirst { try stopAwaitingVersions() }
      return result
    }
  }
}
