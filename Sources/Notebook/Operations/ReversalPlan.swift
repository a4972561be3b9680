internal import Git
internal import History
internal import Merge
internal import WorkTree

struct ReversalPlan {
  /// The operations to undo or redo, newest first, without those that changed nothing.
  let operations: [Operation]
  let files: MergeTerm
  /// The files that are skipped because other devices would refuse them, by path.
  let excluded: [SkippedFile]
  /// The renames that are undone.
  let renames: [RenameTrailer]
  /// The new version's message, and the trailer that records the undo.
  let message: String
  let trailer: String
}

extension Notebook {
  /// The files that change if these steps are undone in the present tree. The steps are sorted, oldest first.
  func reversal(
    of steps: ArraySlice<Operation>, on present: MergeTerm, key: String
  ) throws -> ReversalPlan {
    guard let last = steps.last, let before = steps.first?.before else {
      throw NotebookError.nothingToUndo(available: 0)
    }
    let counted = try steps.count > 1 ? steps.filter(history.hasEffect) : Array(steps)
    let operations = counted.reversed().map(history.summarized)
    let renames = try steps.reversed().flatMap { step in
      RenameTrailer.all(in: try repository.commit(step.after).message).reversed().map(\.inverse)
    }
    var files = present
    for change in try changes(of: steps).reversed() {
      files = try self.files(files, without: change)
    }
    let accepted = try accepted(files.tree, since: present.tree)
    if !accepted.excluded.isEmpty {
      let excluded = Set(accepted.excluded.map(\.path))
      files = MergeTerm(
        tree: accepted.tree, conflicts: files.conflicts.filter { !excluded.contains($0.key) },
        head: files.head)
    }
    return ReversalPlan(
      operations: operations, files: files, excluded: accepted.excluded, renames: renames,
      message: Self.message(reversing: operations, key: key),
      trailer: UndoTrailer.line(key, before: before, after: last.after))
  }

  private typealias Span = (old: Commit, new: Commit)

  /// The changes of the steps. Consecutive steps are one change; between others, something was undone or
  /// stays.
  private func changes(of steps: ArraySlice<Operation>) throws -> [Span] {
    var spans: [Span] = []
    for step in steps {
      guard let before = step.before else { continue }
      let (old, new) = (try repository.commit(before), try repository.commit(step.after))
      if let last = spans.last, last.new.tree == old.tree {
        spans[spans.count - 1].new = new
      } else {
        spans.append((old, new))
      }
    }
    return spans
  }

  private func files(_ present: MergeTerm, without change: Span) throws -> MergeTerm {
    let old = try files(of: change.old)
    if change.new.tree == present.tree {
      return MergeTerm(tree: old.tree, conflicts: old.conflicts, head: present.head)
    }
    var sum = TreeSum(
      store: repository, rules: .all, positives: [present, old],
      negatives: [try files(of: change.new)])
    let result = try sum.run()
    let conflicts = result.reports.compactMap { report -> TreePath? in
      if case .conflict = report.kind { report.path } else { nil }
    }
    guard conflicts.isEmpty else { throw NotebookError.undoConflict(conflicts.sorted()) }
    return MergeTerm(tree: result.tree, conflicts: result.conflicts, head: present.head)
  }

  private func files(of version: Commit) throws -> MergeTerm {
    MergeTerm(
      tree: version.tree, conflicts: try OpenConflicts.conflicts(at: version.id, in: repository),
      head: version)
  }

  func presentVersion() throws -> Commit {
    guard let tip = try repository.head().commit else {
      throw NotebookError.nothingToUndo(available: 0)
    }
    return try repository.commit(tip)
  }

  func savedFiles() throws -> MergeTerm { try files(of: presentVersion()) }

  func unsavedFiles(_ changes: [Change]) throws -> MergeTerm {
    let saved = try savedFiles()
    if changes.isEmpty { return saved }
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in changes.map(\.path) {
      switch try FileContent.read(path, in: folder, sizeLimit: workTree.sizeLimit) {
      case .skipped: break
      case .gone: replaced.updateValue(nil, forKey: path)
      case .read(let content):
        let id = try repository.write(blob: content.bytes)
        let known = try repository.entry(at: path, in: saved.tree)?.mode
        let mode = workTree.fileModes.mode(of: content.mode, known: known)
        replaced[path] = TreeEntry(name: path.name, mode: mode, id: id)
      }
    }
    let tree = try repository.write(tree: saved.tree, replacing: replaced)
    let standing = try saved.conflicts.filter {
      try repository.entry(at: $0.key, in: tree)?.mode.isFile == true
    }
    return MergeTerm(tree: tree, conflicts: standing, head: saved.head)
  }

  private static func message(reversing operations: [Operation], key: String) -> String {
    let isUndo = key == UndoTrailer.undo
    guard operations.count == 1 else {
      return "\(isUndo ? "Undo" : "Redo") \(operations.count) \(isUndo ? "operations" : "undos")"
    }
    let summary = operations[0].summary
    if isUndo { return "Undo: \(summary)" }
    return Operation.undoneSummary(summary) == nil
      ? "Redo what was undone: \(summary)" : "Redo\(summary.dropFirst(4))"
  }
}
