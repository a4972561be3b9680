internal import Git
internal import Glibc

extension Checkout {
  /// Makes the index say what the folder holds now: the new tree.
  package func recordInIndex() throws {
    let former = try workTree.indexForChange(isFirst: journal.from == nil)
    var index = try newIndex(of: former)
    // For the next save, which then knows the trees of all folders that stay as they are.
    _ = try index.makeTree { try workTree.repository.keep(tree: $0) }
    try (consume index).write(to: workTree.repository)
  }

  private func newIndex(of former: IndexFile) throws -> NewIndex {
    // As many entries as there are notes are made one by one then, and no object is read any more.
    if former.count == 0, journal.from == nil, journal.overlay.isEmpty {
      workTree.repository.forgetObjects()
      return try NewIndex(count: plan.steps.count) { try entry(of: plan.steps[$0]) }
    }
    var edit = IndexEdit(of: former)
    for step in plan.steps where step.new == nil { edit.remove(step.path) }
    for step in plan.steps where step.new != nil { edit.set(try entry(of: step)) }
    try setUnchanged(in: &edit)
    return edit.finish()
  }

  /// Files that stood in the folder otherwise than in the old tree, and stand as in the new one: there was
  /// nothing to do, but the index has them as the old tree has.
  private func setUnchanged(in edit: inout IndexEdit) throws {
    if journal.overlay.isEmpty { return }
    let tree = try workTree.repository.commit(journal.to).tree
    let changed = Set(plan.steps.map(\.path))
    for path in journal.overlay.map(\.path) where !changed.contains(path) {
      guard let file = try workTree.repository.entry(at: path, in: tree), file.mode.isFile else {
        continue
      }
      let status = try status(of: path, holding: file.id)
      edit.set(IndexEntry(path: path, mode: file.mode, id: file.id, status: status))
    }
  }

  /// The index entry of the file that a step has brought.
  private func entry(of step: CheckoutSteps.Step) throws -> IndexEntry {
    let path = step.path
    guard let new = step.new, !sparse.contains(path) else {
      return IndexEntry(
        path: path, mode: step.new?.mode ?? .regular, id: step.new?.id ?? .zero,
        status: FileStatus(stat()), skipsWorktree: true)
    }
    return IndexEntry(
      path: path, mode: new.mode, id: new.id,
      status: try stagedFiles.status(of: step) ?? status(of: path, holding: new.id))
  }

  /// The status that the index may remember of a file: one under which it was seen to hold what it
  /// should. Where somebody has written or deleted it since, none, so that the next save looks.
  private func status(of path: TreePath, holding id: ObjectID) throws -> FileStatus {
    if case .read(let content) = try FileContent.read(path, in: workTree.folder, sizeLimit: .max),
      try workTree.repository.hash(blob: content.bytes) == id
    {
      return content.status
    }
    return FileStatus(stat())
  }
}
