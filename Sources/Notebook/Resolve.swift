public import Git
internal import History
public import Merge
internal import WorkTree

extension Notebook {
  /// Replaces a note's conflict blocks by the chosen sides, as a new version; what the folder holds
  /// is saved first.
  ///
  /// - Throws: `MergeError.noConflict`, and `.noSide` when nobody of that name wrote a side.
  public func resolve(_ path: TreePath, keeping resolution: Resolution) throws -> ObjectID? {
    try withWriterLock { transaction in
      try transaction.save()
      guard let tip = try transaction.writer.tip(),
        let size = try OpenConflicts.conflicts(at: tip.id, in: repository)[path],
        let entry = try repository.entry(at: path, in: tip.tree)
      else { throw MergeError.noConflict }
      let marked = try repository.blob(entry.id)
      let labels = MarkedText(marked, markerSize: size).blocks.joined().map(\.label).eachOnce
      let text = try resolution.apply(
        to: marked, markerSize: size, times: history.times(ofLabels: labels, in: path))
      let resolved = TreeEntry(
        name: path.name, mode: entry.mode, id: try repository.write(blob: text))
      return try transaction.replace(
        [path: resolved], message: "Resolve \(path.noteTitle)", operation: .resolve)
    }
  }

  /// Takes back what a merge settled by fine-grained rules in a note: the version made has the sides in
  /// markers, as a conflict to resolve. What the folder holds is saved first.
  ///
  /// - Returns: the new version; nil when the note's last change is no such merge.
  public func takeBackMerge(of path: TreePath) throws -> ObjectID? {
    try withWriterLock { transaction in
      try transaction.save()
      var last: Version?
      try history.forEachVersion(of: path, includesDerived: true) { version in
        last = version
        return false
      }
      guard let last, last.isDerived,
        MergeTrailers(message: last.commit.message).merged[path] != nil,
        let (text, size) = try DerivedMerge.noteInMarkers(path, at: last.commit.id, in: repository),
        let tip = try transaction.writer.tip(),
        let entry = try repository.entry(at: path, in: tip.tree)
      else { return nil }
      let marked = TreeEntry(
        name: path.name, mode: entry.mode, id: try repository.write(blob: text))
      return try transaction.replace(
        [path: marked], message: "Take back the merge of \(path.noteTitle)",
        conflicts: [path: size], operation: .unmerge)
    }
  }
}
