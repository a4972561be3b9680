public import Git

/// What an undo or a redo is to take back.
public enum OperationChoice: Hashable, Sendable {
  /// So many of the last operations.
  case last(Int)
  /// The operation that led to the version of this ID, or beginning of one.
  case version(String)
}

/// What an undo or a redo did, or would do.
public struct Reversal: Sendable {
  /// What was taken back, or done again; newest first.
  public let operations: [Operation]
  /// What changed in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and where nothing was left to change.
  public let version: ObjectID?

  package init(operations: [Operation], changes: [Change], version: ObjectID?) {
    self.operations = operations
    self.changes = changes
    self.version = version
  }
}

// notes-undo(1): an operation led from one tip to another. To take it back is to apply the inverse
// change to the present tip: a merge of the present tree and the tree before, with the tree after as
// their base. For the last operation that is the tree before, byte for byte.
extension Notebook {
  /// Takes back operations of this device as a new version. What the folder holds is saved first,
  /// and that save, if it makes a version, is the last operation.
  ///
  /// - Parameter trial: find out what would be done, and change nothing.
  /// - Throws: `nothingToUndo`, `noSuchOperation`; `undoConflict` where later edits of the same lines
  ///   are in the way; `massDeletion`.
  public func undo(
    _ choice: OperationChoice = .last(1), trial: Bool = false, allowsMassDeletion: Bool = false
  ) throws -> Reversal {
    if trial { return try undoTrial(choice) }
    return try withWriterLock {
      // What the last operation is, is taken back at once: no deletion is passed on.
      let takesSaveBack = choice == .last(1)
      _ = try saveLocked(allowsMassDeletion: allowsMassDeletion || takesSaveBack)
      let steps = try stepsToUndo(choice, in: operationHistory().done)
      let plan = try reversal(of: steps, key: UndoTrailer.undo)
      return try carryOut(plan, .undo, allowsMassDeletion: allowsMassDeletion)
    }
  }

  /// Does again what the last undo took back, by taking that undo back.
  ///
  /// - Throws: `nothingToRedo`, `undoConflict`, `massDeletion`.
  public func redo(trial: Bool = false, allowsMassDeletion: Bool = false) throws -> Reversal {
    if trial {
      let plan = try redoPlan()
      return Reversal(
        operations: plan.operations, changes: try changesInFolder(to: plan.tree), version: nil)
    }
    return try withWriterLock {
      _ = try saveLocked(allowsMassDeletion: allowsMassDeletion)
      return try carryOut(redoPlan(), .redo, allowsMassDeletion: allowsMassDeletion)
    }
  }

  // MARK: Plans

  private struct Plan {
    let operations: [Operation]
    let tree: ObjectID
    /// The conflicts that are open in it, with the size of their markers.
    let conflicts: [TreePath: Int]
    let message: String
    let trailers: [String]
  }

  private func stepsToUndo(
    _ choice: OperationChoice, in done: [OperationHistory.Step]
  ) throws -> [OperationHistory.Step] {
    switch choice {
    case .last(let count):
      let steps = Array(done.suffix(count))
      guard steps.count == count, steps.allSatisfy({ $0.before != nil }), !steps.isEmpty else {
        throw NotebookError.nothingToUndo(available: done.count { $0.before != nil })
      }
      return steps
    case .version(let prefix):
      let found = done.filter { $0.after.hex.hasPrefix(prefix.lowercased()) }
      guard let step = found.last, step.before != nil else {
        throw NotebookError.noSuchOperation(prefix)
      }
      guard Set(found.map(\.after)).count == 1 else {
        throw NotebookError.ambiguousVersion(prefix)
      }
      return [step]
    }
  }

  private func redoPlan() throws -> Plan {
    let history = try operationHistory()
    guard let step = history.undone.last else { throw NotebookError.nothingToRedo }
    return try reversal(of: [step], key: UndoTrailer.redo)
  }

  /// What takes the change back that these steps made together, oldest first.
  private func reversal(of steps: [OperationHistory.Step], key: String) throws -> Plan {
    guard let first = steps.first, let last = steps.last, let before = first.before else {
      throw NotebookError.nothingToUndo(available: 0)
    }
    let operations = steps.reversed().map(operation)
    let message =
      operations.count == 1
      ? Self.message(reversing: operations[0].summary, key: key)
      : "Undo \(operations.count) operations"
    var trailers = [UndoTrailer.line(key, before: before, after: last.after)]
    for step in steps.reversed() {
      let renames = RenameTrailer.all(in: try repository.commit(step.after).message)
      trailers += renames.reversed().map(\.inverse.line)
    }
    let (tree, conflicts) = try tree(reversingFrom: before, to: last.after)
    return Plan(
      operations: operations, tree: tree, conflicts: conflicts, message: message,
      trailers: trailers)
  }

  private static func message(reversing summary: String, key: String) -> String {
    if key == UndoTrailer.undo { return "Undo: \(summary)" }
    return summary.hasPrefix("Undo: ")
      ? "Redo: \(summary.dropFirst(6))" : "Redo what was undone: \(summary)"
  }

  /// The present tree with the change between two versions taken back, and its open conflicts.
  private func tree(
    reversingFrom before: ObjectID, to after: ObjectID
  ) throws -> (ObjectID, [TreePath: Int]) {
    guard let tip = try repository.head().commit.map({ try repository.commit($0) }) else {
      throw NotebookError.nothingToUndo(available: 0)
    }
    let (old, new) = (try repository.commit(before), try repository.commit(after))
    if new.tree == tip.tree {
      return (old.tree, try OpenConflicts.conflicts(at: old.id, in: repository))
    }
    func term(_ commit: Commit, isHead: Bool) throws -> MergeTerm {
      MergeTerm(
        tree: commit.tree, conflicts: try OpenConflicts.conflicts(at: commit.id, in: repository),
        head: isHead ? commit : nil)
    }
    var sum = TreeSum(
      store: repository, rules: .all,
      positives: [try term(tip, isHead: true), try term(old, isHead: true)],
      negatives: [try term(new, isHead: false)])
    let result = try sum.run()
    let conflicts = result.reports.compactMap { report in
      if case .conflict = report.kind { return report.path }
      return nil
    }
    guard conflicts.isEmpty else { throw NotebookError.undoConflict(conflicts.sorted()) }
    return (result.tree, result.conflicts)
  }

  // MARK: Doing it

  private func carryOut(
    _ plan: Plan, _ operation: OperationKind, allowsMassDeletion: Bool
  ) throws -> Reversal {
    let head = try repository.head()
    guard let tip = try head.commit.map({ try repository.commit($0) }) else {
      throw NotebookError.nothingToUndo(available: 0)
    }
    let made = try makeVersion(
      of: plan.tree, parents: [tip], message: plan.message, trailers: plan.trailers,
      conflicts: plan.conflicts)
    let changes = try renamedChanges(from: tip.tree, to: plan.tree)
    try joinLocked(
      [made],
      options: JoinOptions(allowsMassDeletion: allowsMassDeletion, operation: operation))
    return Reversal(operations: plan.operations, changes: changes, version: made)
  }

  // MARK: Trials

  private func undoTrial(_ choice: OperationChoice) throws -> Reversal {
    let unsaved = try status().changes
    let done = try operationHistory().done
    guard !unsaved.isEmpty, case .last(let count) = choice, let tip = try repository.head().commit
    else {
      let plan = try reversal(of: stepsToUndo(choice, in: done), key: UndoTrailer.undo)
      return Reversal(
        operations: plan.operations, changes: try changesInFolder(to: plan.tree), version: nil)
    }
    // The save that would be made is the last operation.
    let save = Operation(
      kind: .save, time: clock.now().seconds, before: tip, after: tip,
      summary: Self.message(for: unsaved))
    let steps = count > 1 ? try stepsToUndo(.last(count - 1), in: done) : []
    let base = try repository.commit(steps.first?.before ?? tip)
    return Reversal(
      operations: [save] + steps.reversed().map(operation),
      changes: try changesInFolder(to: base.tree), version: nil)
  }
}
