public import Git
internal import Glibc

/// What taking in heads did.
public struct JoinResult: Sendable {
  /// The tip before, or nil in a notebook without versions.
  public let former: ObjectID?
  /// The tip now.
  public let tip: ObjectID?
  /// The heads the tip stands for, in the order of the merge.
  public let heads: [ObjectID]
  /// What changed in the folder, by path.
  public let changes: [Change]
  /// Notes that are in conflict now and were not before.
  public let conflicts: [TreePath]
  /// What the merge did beyond taking a side, when there was one.
  public let reports: [MergeReport]
}

/// Limits of a join.
public struct JoinOptions: Sendable {
  /// Let more than half of the notes be deleted.
  public var allowsMassDeletion = false
  /// What the save before it looks at.
  public var scope = SaveScope.everything
  /// What brings the heads, for the log of operations.
  public var operation: OperationKind

  public init(
    allowsMassDeletion: Bool = false, scope: SaveScope = .everything,
    operation: OperationKind = .receive
  ) {
    self.allowsMassDeletion = allowsMassDeletion
    self.scope = scope
    self.operation = operation
  }
}

extension Notebook {
  /// Takes in heads whose objects are in the repository: saves the folder, joins the sets of heads,
  /// and brings the folder to their tip. What somebody writes meanwhile is joined as well.
  ///
  /// - Throws: `NotebookError.massDeletion`, before a file has changed.
  public func join(_ heads: [ObjectID], options: JoinOptions = JoinOptions()) throws -> JoinResult {
    try withWriterLock {
      if !options.scope.isEmpty {
        _ = try saveLocked(allowsMassDeletion: options.allowsMassDeletion, scope: options.scope)
      }
      _ = try bringToPlainFormLocked()
      let result = try joinLocked(heads, options: options)
      rememberPlain(result.tip)
      return result
    }
  }

  /// `join` for callers that hold the writer lock and have saved.
  @discardableResult
  package func joinLocked(
    _ foreign: [ObjectID], options: JoinOptions = JoinOptions(),
    overlay: [CheckoutJournal.Overlay] = []
  ) throws -> JoinResult {
    let former = try repository.head().commit
    let conflictsBefore = Set(try openConflictPaths())
    var incoming = foreign
    var overlay = overlay
    var reports: [MergeReport] = []
    while true {
      let head = try repository.head()
      let current = head.commit.map { [$0] } ?? []
      let heads = try DerivedMerge.reduce(current + incoming, in: repository)
      guard !heads.isEmpty else { break }
      let tip = try DerivedMerge.tip(of: heads, in: repository)
      reports = tip.reports
      guard tip.id != head.commit || !overlay.isEmpty else { break }
      if !options.allowsMassDeletion { try guardAgainstMassDeletion(from: former, to: tip.id) }
      incoming = try checkOut(
        from: head.commit, to: tip.id, head: head, overlay: overlay, operation: options.operation)
      overlay = []
      if incoming.isEmpty { break }
      // Somebody wrote while the files were swapped: save what else they wrote, and join again.
      _ = try saveLocked(allowsMassDeletion: true)
    }
    if access(repository.gitFolder + "/" + Self.rescueFolder, F_OK) == 0 {
      for reference in try repository.references(under: Self.rescueFolder + "/") {
        try repository.delete(reference: reference.name)
      }
      rmdir(repository.gitFolder + "/" + Self.rescueFolder)
    }
    return try joinResult(former: former, conflictsBefore: conflictsBefore, reports: reports)
  }

  private func joinResult(
    former: ObjectID?, conflictsBefore: Set<TreePath>, reports: [MergeReport]
  ) throws -> JoinResult {
    let tip = try repository.head().commit
    let changes = try repository.changes(
      from: former.map { try repository.commit($0).tree },
      to: tip.map { try repository.commit($0).tree })
    return JoinResult(
      former: former, tip: tip,
      heads: try tip.map { try DerivedMerge.heads(of: $0, in: repository) } ?? [],
      changes: changes.map(Change.init),
      conflicts: try openConflictPaths().filter { !conflictsBefore.contains($0) },
      reports: tip == former ? [] : reports)
  }
}
