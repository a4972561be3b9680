internal import Git
internal import Glibc

extension Checkout {
  /// Makes the index say what the folder holds now: the new tree.
  package func recordInIndex() throws {
    var edit = IndexEdit(of: try workTree.indexForChange())
    for step in plan.steps where step.new == nil { edit.remove(step.path) }
    for step in plan.steps {
      guard let new = step.new else { continue }
      let wasSparse = sparse.contains(step.path)
      edit.set(
        IndexEntry(
          path: step.path, mode: new.mode, id: new.id,
          status: wasSparse
            ? FileStatus(stat())
            : try stagedFiles.status(of: step) ?? status(of: step.path, as: new),
          skipsWorktree: wasSparse))
    }
    // For the next save, which then knows the trees of all folders that stay as they are.
    var index = edit.finish()
    _ = try index.makeTree { try workTree.repository.keep(tree: $0) }
    try index.write(to: workTree.repository)
  }

  /// The status that the index may remember of a file: one under which it was seen to hold what it
  /// should. Where somebody has written or deleted it since, none, so that the next save looks.
  private func status(of path: TreePath, as entry: TreeEntry) throws -> FileStatus {
    if case .read(let content) = try FileContent.read(path, in: workTree.folder, sizeLimit: .max),
      try workTree.repository.hash(blob: content.bytes) == entry.id
    {
      return content.status
    }
    return FileStatus(stat())
  }
}
