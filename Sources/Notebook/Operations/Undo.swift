public import Git
public import History
internal import Merge
public import WorkTree

/// The operations to undo or redo.
public enum OperationChoice: Hashable, Sendable {
  /// The last operations, by number.
  case last(Int)
  /// The operation that made the version with this ID, or with this beginning of an ID.
  case version(String)
}

/// The result of an undo or a redo, or of a trial.
public struct Reversal: Sendable {
  /// The operations that were undone or redone; newest first.
  public let operations: [Operation]
  /// The changes in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and if nothing changed.
  public let version: ObjectID?
  /// The files that are skipped because other devices would refuse them, by path.
  public let excluded: [SkippedFile]

  package init(
    operations: [Operation], changes: [Change], version: ObjectID?, excluded: [SkippedFile] = []
  ) {
    self.operations = operations
    self.changes = changes
    self.version = version
    self.excluded = excluded
  }
}

// notes-undo(1): an operation moves from one tip to another. Undoing it applies the inverse change to the
// present tip: it merges the present tree and the tree before the operation, with the tree after it as their
// base. For the last operation the result is the tree before it, byte for byte.
extension Notebook {
  /// Undoes operations of this device with a new version. Saves the folder first; if that makes a version, it
  /// is the last operation.
  ///
  /// - Parameter trial: return the result without changing anything.
  /// - Throws: `nothingToUndo`, `noSuchOperation`, `undoConflict`, `massDeletion`.
  public func undo(
    _ choice: OperationChoice = .last(1), trial: Bool = false, allowsMassDeletion: Bool = false
  ) throws -> Reversal {
    if trial { return try undoTrial(choice) }
    // The save that precedes the undo is then the last operation and is undone at once, so no deletion reaches other
    // devices.
    var takesSaveBack = false
    if case .last = choice { takesSaveBack = true }
    return try reverse(
      .undo, UndoTrailer.undo, allowsMassDeletion: allowsMassDeletion,
      savesAll: allowsMassDeletion || takesSaveBack
    ) { try stepsToUndo(choice, in: history.operationHistory().done) }
  }

  /// Redoes what the last undos undid, by undoing those undos with one new version.
  ///
  /// - Throws: `nothingToRedo`, `undoConflict`, `massDeletion`.
  public func redo(
    _ count: Int = 1, trial: Bool = false, allowsMassDeletion: Bool = false
  ) throws -> Reversal {
    if trial {
      let steps = try stepsToRedo(count)
      let present = try unsavedFiles(workTree.changes().changes)
      return try outcome(of: reversal(of: steps, on: present, key: UndoTrailer.redo), from: present)
    }
    return try reverse(
      .redo, UndoTrailer.redo, allowsMassDeletion: allowsMassDeletion, savesAll: allowsMassDeletion
    ) { try stepsToRedo(count) }
  }

  private func stepsToUndo(
    _ choice: OperationChoice, in done: [Operation]
  ) throws -> ArraySlice<Operation> {
    switch choice {
    case .last(let count):
      var (start, left) = (done.endIndex, count)
      while left > 0, start > done.startIndex, done[start - 1].before != nil {
        start -= 1
        if try history.hasEffect(done[start]) { left -= 1 }
      }
      guard left == 0, start < done.endIndex else {
        throw NotebookError.nothingToUndo(available: count - left)
      }
      return done[start...]
    case .version(let prefix):
      let found = done.filter { $0.after.hex.hasPrefix(prefix.lowercased()) }
      guard let step = found.last, step.before != nil else {
        throw NotebookError.noSuchOperation(prefix)
      }
      guard Set(found.map(\.after)).count == 1 else { throw HistoryError.ambiguousVersion(prefix) }
      return [step]
    }
  }

  private func stepsToRedo(_ count: Int) throws -> ArraySlice<Operation> {
    let undone = try history.operationHistory().undone
    guard undone.count >= count else { throw NotebookError.nothingToRedo(available: undone.count) }
    return undone.suffix(count)
  }

  private func reverse(
    _ operation: OperationKind, _ key: String, allowsMassDeletion: Bool, savesAll: Bool,
    _ steps: () throws -> ArraySlice<Operation>
  ) throws -> Reversal {
    try withWriterLock { transaction in
      try transaction.save(allowsMassDeletion: savesAll)
      try transaction.restoreDamagedFiles()
      let chosen = try steps()
      let present = try savedFiles()
      let plan = try reversal(of: chosen, on: present, key: key)
      let made = try transaction.writer.makeVersion(
        of: plan.files.tree, parents: parents(of: chosen), message: plan.message,
        trailers: [plan.trailer] + plan.renames.map(\.line), conflicts: plan.files.conflicts,
        guest: transaction.guest)
      let result = try outcome(of: plan, from: present, version: made)
      var options = MergeOptions(allowsMassDeletion: allowsMassDeletion, operation: operation)
      options.mustBeWritten = Set(
        try repository.changes(from: present.tree, to: plan.files.tree).map(\.path))
      transaction.tellWaiting(after: try transaction.merge([made], options: options))
      return result
    }
  }

  /// The present version, and the dropped versions that are restored, so that they are in the
  /// history again.
  private func parents(of steps: ArraySlice<Operation>) throws -> [Commit] {
    let present = try presentVersion()
    let dropped = try steps.flatMap { try $0.dropped(from: present.id, in: repository) }
    return try [present] + repository.heads(among: dropped).sorted().map(repository.commit)
  }

  private func undoTrial(_ choice: OperationChoice) throws -> Reversal {
    let unsaved = try workTree.changes().changes
    let present = try unsavedFiles(unsaved)
    let saved = try savedFiles()
    let done = try history.operationHistory().done
    // Files may count as unsaved although git has already committed them; a save makes no version
    // of them.
    guard present.tree != saved.tree, case .last(let count) = choice else {
      let steps = try stepsToUndo(choice, in: done)
      return try outcome(of: reversal(of: steps, on: present, key: UndoTrailer.undo), from: present)
    }
    // The save that would be made is the last operation.
    let tip = try presentVersion().id
    let save = Operation(
      kind: .save, time: clock.now().seconds, before: tip, after: tip,
      summary: Change.summary(of: unsaved))
    guard count > 1 else {
      return Reversal(
        operations: [save], changes: try history.renamedChanges(from: present.tree, to: saved.tree),
        version: nil)
    }
    do {
      let steps = try stepsToUndo(.last(count - 1), in: done)
      return try outcome(
        of: reversal(of: steps, on: saved, key: UndoTrailer.undo), from: present, after: [save])
    } catch NotebookError.nothingToUndo(let available) {
      throw NotebookError.nothingToUndo(available: available + 1)
    }
  }

  private func outcome(
    of plan: ReversalPlan, from present: MergeTerm, after earlier: [Operation] = [],
    version: ObjectID? = nil
  ) throws -> Reversal {
    Reversal(
      operations: earlier + plan.operations,
      changes: try history.renamedChanges(
        from: present.tree, to: plan.files.tree, told: plan.renames), version: version,
      excluded: plan.excluded)
  }
}
