public import Git
internal import History
internal import Merge
public import WorkTree

/// What the restore of many files did, or would do.
public struct FolderRestoration: Sendable {
  /// What changed in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and where nothing differs.
  public let version: ObjectID?
}

extension Notebook {
  /// Brings the notebook, or a folder of it, to what it was in a version, as a new version: files
  /// that came since go, those that went come back. What the folder holds is versioned first.
  ///
  /// - Parameters:
  ///   - folder: only what is below this folder.
  ///   - label: what the version is called in the new one's message.
  ///   - trial: find out what would change, and change nothing.
  /// - Throws: `massDeletion`, before a file has changed; `notInVersion` when the folder was not there.
  public func restore(
    folder: TreePath? = nil, from version: Commit, label: String, trial: Bool = false,
    allowsMassDeletion: Bool = false
  ) throws -> FolderRestoration {
    if trial {
      let wanted = try wantedTree(folder, from: version)
      return FolderRestoration(
        changes: try history.changesInFolder(to: wanted.tree, under: folder), version: nil)
    }
    return try withWriterLock { transaction in
      // With the whole notebook, what is gone from the folder comes back at once.
      try transaction.save(allowsMassDeletion: allowsMassDeletion || folder == nil)
      let wanted = try wantedTree(folder, from: version)
      let former = try history.tipTree()
      let changes = try repository.changes(from: former, to: wanted.tree)
      let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
      let what = folder.map { $0.description } ?? "the notebook"
      let made = try transaction.replace(
        replaced, message: "Restore \(what) as of \(label)", conflicts: wanted.conflicts,
        options: MergeOptions(allowsMassDeletion: allowsMassDeletion, operation: .restore))
      return FolderRestoration(
        changes: made == nil ? [] : try history.renamedChanges(from: former, to: wanted.tree),
        version: made)
    }
  }

  /// The tip's tree with a folder as a version has it.
  private func wantedTree(
    _ folder: TreePath?, from version: Commit
  ) throws -> (tree: ObjectID, conflicts: [TreePath: Int]) {
    let conflicts = try OpenConflicts.conflicts(at: version.id, in: repository)
    guard let folder else { return (version.tree, conflicts) }
    guard try repository.entry(at: folder, in: version.tree)?.mode == .tree else {
      throw NotebookError.notInVersion(folder, version.id)
    }
    let tip = try history.tipTree()
    let changes = try repository.changes(from: tip, to: version.tree).filter {
      $0.path.isBelow(folder)
    }
    let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
    let tree = try repository.write(tree: tip, replacing: replaced)
    return (tree, conflicts.filter { $0.key.isBelow(folder) })
  }
}
