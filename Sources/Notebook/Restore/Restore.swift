public import Git
internal import Glibc
internal import History
internal import Merge
internal import WorkTree

extension Notebook {
  /// Brings back a note as it was in a version, as a new version; the present text is versioned
  /// first. Returns the new version, or nil when the note is so already.
  ///
  /// - Parameter target: under this path instead of its own.
  /// - Throws: `nameTaken` when the target is to be new and is not, or when a folder has that name.
  public func restore(_ path: TreePath, from version: Commit, as target: TreePath? = nil) throws
    -> ObjectID?
  {
    try withWriterLock { transaction in
      let former = try history.noteVersion(at: version, of: path).path
      guard let entry = try repository.entry(at: former, in: version.tree), entry.mode.isFile else {
        throw NotebookError.notInVersion(path, version.id)
      }
      try transaction.save()
      if let target { try checkIsFree(target) } else { try checkCanStand(path) }
      let title = (target ?? path).noteTitle
      let conflict = try openConflict(of: former, entry.id, in: version)
      let made = try transaction.replace(
        [target ?? path: TreeEntry(name: path.name, mode: entry.mode, id: entry.id)],
        message: "Restore \(title) from \(version.id.hex.prefix(10))",
        conflicts: conflict.map { [target ?? path: $0] } ?? [:],
        options: MergeOptions(operation: .restore))
      // Something else may stand where the last version has the note.
      if made == nil, try !isThere(path) {
        throw NotebookError.obstructed(path: path.description)
      }
      return made
    }
  }

  /// The size of a note's markers where it was in conflict in a version.
  private func openConflict(
    of path: TreePath, _ text: ObjectID, in version: Commit
  ) throws -> Int? {
    // Of a foreign commit the conflicts are known only from those before it.
    guard try MarkedText.mayHoldBlocks(repository.blob(text)) else { return nil }
    return try OpenConflicts.conflicts(at: version.id, in: repository)[path]
  }
}
