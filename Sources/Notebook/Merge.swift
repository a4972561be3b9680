public import Git
public import History
public import Merge
public import WorkTree

/// The result of taking in heads.
public struct MergeOutcome: Codable, Sendable {
  /// The tip before, or nil in a notebook without versions.
  public let former: ObjectID?
  /// The tip now.
  public let tip: ObjectID?
  /// The heads the tip stands for, in the order of the merge.
  public let heads: [ObjectID]
  /// The changes in the folder, by path.
  public let changes: [Change]
  /// Those of them that wait outside the folder, as their place is taken.
  public let waiting: [TreePath]
  /// Notes that are in conflict now and were not before.
  public let conflicts: [TreePath]
  /// The decisions of the merge other than to take one side, if there were any.
  public let reports: [MergeReport]
  /// The forgettings that this device followed in this merge, if it did.
  public var followed: FollowedForgettings?
}

/// The forgettings that a device has followed, and the version that names them.
public struct FollowedForgettings: Codable, Sendable {
  /// The version, which an admin signed.
  public let version: ObjectID
  /// The ones that the device had not followed before.
  public let lines: [ForgettingVersion.Line]
}

/// Limits of a join.
public struct MergeOptions: Sendable {
  /// Let more than half of the notes be deleted.
  public var allowsMassDeletion = false
  /// Let more come into the folder than `unaskedBytes`, or than half of what is free.
  public var allowsLarge = false
  /// How many bytes may come into the folder without a question.
  package var unaskedBytes = 1 << 30
  /// The files that the save before it looks at.
  public var scope = SaveScope.everything
  /// Counts what is written into the folder.
  public var meter: WorkMeter?
  /// The notes that the user asked to be written: if the folder does not let them be, nothing changes.
  package var mustBeWritten: Set<TreePath> = []
  /// Brings versions from before something was forgotten over to this device's history, where nobody else does it.
  package var bringsOver = false
  /// The operation that brings the heads, for the log of operations.
  public var operation: OperationKind

  /// By default the limits for heads that another device sent.
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
  /// Takes in heads whose objects are in the repository: saves the folder, merges them with its own,
  /// and brings the folder to their tip. Edits made in the meantime are merged as well.
  ///
  /// - Throws: `NotebookError.massDeletion` and `.largeVersion`, before a file has changed.
  public func merge(_ heads: [ObjectID], options: MergeOptions = MergeOptions()) throws
    -> MergeOutcome
  {
    try withWriterLock { transaction in
      if !options.scope.isEmpty {
        try transaction.save(allowsMassDeletion: options.allowsMassDeletion, scope: options.scope)
      }
      _ = try transaction.portableRewrite.rewriteBranch()
      let result = try transaction.merge(heads, options: options)
      transaction.portableRewrite.remember(result.tip)
      return result
    }
  }
}
