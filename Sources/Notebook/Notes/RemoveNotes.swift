public import Git
internal import History
internal import WorkTree

/// What a removal did.
public struct Removal: Sendable {
  /// The files that went, by path.
  public let paths: [TreePath]
  /// The version that deleted them; nil where there was nothing to delete.
  public let version: ObjectID?
}

extension Notebook {
  /// Deletes notes, and folders with all that is versioned in them, as a version of its own after
  /// one of what the folder holds. Their texts stay in the history.
  ///
  /// - Throws: `noSuchNote` for one that is not there; `massDeletion`. Nothing is deleted then.
  public func delete(_ subjects: [TreePath], allowsMassDeletion: Bool = false) throws -> Removal {
    try withWriterLock { transaction in
      try transaction.save(allowsMassDeletion: allowsMassDeletion)
      guard let tree = try history.tipTree() else {
        throw NotebookError.noSuchNote(subjects.naming)
      }
      var paths: Set<TreePath> = []
      for subject in subjects {
        switch try repository.entry(at: subject, in: tree) {
        case nil: throw NotebookError.noSuchNote(subject.description)
        case let entry? where entry.mode == .tree:
          for (path, _) in try repository.files(in: entry.id) {
            paths.insert(subject.appending(path))
          }
        case _?: paths.insert(subject)
        }
      }
      let sorted = paths.sorted()
      let changes = sorted.map { Change(path: $0, kind: .deleted) }
      let version = try transaction.replace(
        Dictionary(uniqueKeysWithValues: sorted.map { ($0, nil) }),
        message: Change.summary(of: changes),
        options: MergeOptions(allowsMassDeletion: allowsMassDeletion, operation: .delete))
      return Removal(paths: sorted, version: version)
    }
  }
}

extension [TreePath] {
  fileprivate var naming: String { map(\.description).joined(separator: ", ") }
}
