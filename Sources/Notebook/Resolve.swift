public import Git

extension Notebook {
  /// Replaces a note's conflict blocks by the chosen sides, as a new version; what the folder holds
  /// is saved first.
  ///
  /// - Returns: the new version.
  /// - Throws: `MergeError.noConflict` when the note has no conflict, `.noSide` when nobody of that
  ///   name wrote a side.
  public func resolve(_ path: TreePath, keeping resolution: Resolution) throws -> ObjectID? {
    try withWriterLock {
      _ = try saveLocked()
      guard let tip = try repository.head().commit.map({ try repository.commit($0) }),
        let size = try OpenConflicts.conflicts(at: tip.id, in: repository)[path],
        let entry = try repository.entry(at: path, in: tip.tree)
      else { throw MergeError.noConflict }
      let text = try resolution.apply(to: repository.blob(entry.id), markerSize: size)
      let resolved = TreeEntry(
        name: path.name, mode: entry.mode, id: try repository.write(blob: text))
      return try replace(
        [path: resolved], message: "Resolve \(path.noteTitle)",
        options: JoinOptions(operation: .resolve))
    }
  }

  /// Takes back what a merge settled below the line in a note: the version made has the sides in
  /// markers, as a conflict to resolve. What the folder holds is saved first.
  ///
  /// - Returns: the new version; nil when the note's last change is no such merge.
  public func takeBackMerge(of path: TreePath) throws -> ObjectID? {
    try withWriterLock {
      _ = try saveLocked()
      var last: Version?
      try forEachVersion(of: path, includesDerived: true) { version in
        last = version
        return false
      }
      guard let last, last.isDerived,
        MergeTrailers(message: last.commit.message).merged[path] != nil,
        let (text, size) = try DerivedMerge.noteInMarkers(
          path, at: last.commit.id, in: repository),
        let tip = try repository.head().commit.map({ try repository.commit($0) }),
        let entry = try repository.entry(at: path, in: tip.tree)
      else { return nil }
      let marked = TreeEntry(
        name: path.name, mode: entry.mode, id: try repository.write(blob: text))
      let tree = try repository.write(tree: tip.tree, replacing: [path: marked])
      var trailers = try OpenConflicts.carried(from: [tip.id], to: tree, in: repository)
      trailers.conflicts[path] = size
      let author = signature(after: [tip])
      let message = "Take back the merge of \(path.noteTitle)"
      let made = try repository.write(
        commit: tree, parents: [tip.id], author: author, committer: author,
        message: message.withTrailers(trailers.lines))
      try joinLocked([made], options: JoinOptions(operation: .unmerge))
      return made
    }
  }
}
