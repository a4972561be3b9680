internal import Git
internal import Glibc

extension Checkout {
  /// Makes the index describe the files that the folder has now: the new tree.
  package func recordInIndex() throws {
    let former = try workTree.indexForChange(isFirst: journal.from == nil)
    var index = try newIndex(of: former)
    // Stores the trees in the index, so that the next save finds those of all unchanged folders there.
    _ = try index.makeTree { try workTree.repository.keep(tree: $0) }
    try (consume index).write(to: workTree.repository)
  }

  private func newIndex(of former: IndexFile) throws -> NewIndex {
    // A first checkout makes an entry for each note, one by one, and reads no more objects.
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

  /// Sets the entries of files that differed from the old tree in the folder, and were already as in the new tree. They
  /// needed no step, but the index still has the old tree's entries.
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

  /// The index entry of the file that a step put into the folder.
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

  /// The status that the index may record for a file: one with which the file was seen to have the
  /// right content. Nil if somebody has written or deleted the file since, so that the next save
  /// reads it.
  private func status(of path: TreePath, holding id: ObjectID) throws -> FileStatus {
    if case .read(let content) = try FileContent.read(path, in: workTree.folder, sizeLimit: .max),
      try workTree.repository.hash(blob: content.bytes) == id
    {
      return content.status
    }
    return FileStatus(stat())
  }
}
