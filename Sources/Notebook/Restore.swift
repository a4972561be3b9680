public import Git
internal import Glibc
internal import History
internal import Merge
public import WorkTree

/// The changes that the restore of many files made, or would make.
public struct FolderRestoration: Sendable {
  /// The changes in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and where nothing differs.
  public let version: ObjectID?
  /// The files of that version that stay out, as no other device would take them, by path.
  public let excluded: [SkippedFile]
}

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
        throw HistoryError.notInVersion(path, version.id)
      }
      try transaction.save()
      try transaction.restoreDamagedFiles()
      if let target { try checkIsFree(target) } else { try checkCanStand(path) }
      let title = (target ?? path).noteTitle
      let conflict = try openConflict(of: former, entry.id, in: version)
      let files = [target ?? path: TreeEntry(name: path.name, mode: entry.mode, id: entry.id)]
      let news = try transaction.news(ofReplacing: files, in: history.tipTree())
      let made = try transaction.replace(
        files, message: "Restore \(title) from \(version.id.hex.prefix(10))",
        conflicts: conflict.map { [target ?? path: $0] } ?? [:], operation: .restore)
      // Something else may stand where the last version has the note.
      if made == nil, try !isThere(path) { throw WorkTreeError.obstructed(path: path.description) }
      if made != nil { news.forEach(saveNotice) }
      return made
    }
  }

  /// Brings files back to their last version that a power cut damaged, all or these; what they hold is
  /// versioned beside: notes-save(1), "After a power cut".
  ///
  /// - Returns: the files, and the new version; nil where there are none.
  public func restoreDamagedFiles(_ paths: [TreePath]? = nil) throws
    -> (files: [SkippedFile], version: ObjectID)?
  {
    try withWriterLock { transaction in
      try transaction.save(scope: paths.map { .only(Set($0)) } ?? .everything)
      return try transaction.restoreDamagedFiles(paths).map {
        ($0.files.map(\.skipped), $0.version)
      }
    }
  }

  private func openConflict(
    of path: TreePath, _ text: ObjectID, in version: Commit
  ) throws -> Int? {
    // Of a foreign commit the conflicts are known only from those before it.
    guard try MarkedText.mayHoldBlocks(repository.blob(text)) else { return nil }
    return try OpenConflicts.conflicts(at: version.id, in: repository)[path]
  }

  /// Brings the notebook, or a folder of it, to what it was in a version, as a new version: files
  /// that came since go, those that went come back. The folder is saved first.
  ///
  /// - Parameter label: what the version is called in the new one's message.
  /// - Throws: `massDeletion`, before a file has changed; `notInVersion` when the folder was not there.
  public func restore(
    folder: TreePath? = nil, from version: Commit, label: String, trial: Bool = false,
    allowsMassDeletion: Bool = false
  ) throws -> FolderRestoration {
    if trial {
      let wanted = try wantedTree(folder, from: version)
      return FolderRestoration(
        changes: try history.changesInFolder(to: wanted.tree, under: folder), version: nil,
        excluded: wanted.excluded)
    }
    return try withWriterLock { transaction in
      // With the whole notebook, what is gone from the folder comes back at once.
      try transaction.save(allowsMassDeletion: allowsMassDeletion || folder == nil)
      try transaction.restoreDamagedFiles()
      let wanted = try wantedTree(folder, from: version)
      let former = try history.tipTree()
      let changes = try repository.changes(from: former, to: wanted.tree)
      let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
      let news = try transaction.news(ofReplacing: replaced, in: former)
      let what = folder.map { $0.description } ?? "the notebook"
      let made = try transaction.replace(
        replaced, message: "Restore \(what) as of \(label)", conflicts: wanted.conflicts,
        operation: .restore, allowsMassDeletion: allowsMassDeletion)
      if made != nil { news.forEach(saveNotice) }
      return FolderRestoration(
        changes: made == nil ? [] : try history.renamedChanges(from: former, to: wanted.tree),
        version: made, excluded: wanted.excluded)
    }
  }

  private func wantedTree(_ folder: TreePath?, from version: Commit) throws -> WantedTree {
    var conflicts = try OpenConflicts.conflicts(at: version.id, in: repository)
    var tree = version.tree
    let tip = try history.tipTree()
    if let folder {
      guard try repository.entry(at: folder, in: tree)?.mode == .tree else {
        throw HistoryError.notInVersion(folder, version.id)
      }
      let changes = try repository.changes(from: tip, to: tree).filter {
        $0.path.isBelow(folder)
      }
      let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
      tree = try repository.write(tree: tip, replacing: replaced)
      conflicts = conflicts.filter { $0.key.isBelow(folder) }
    }
    let accepted = try accepted(tree, since: tip)
    for file in accepted.excluded { conflicts[file.path] = nil }
    return WantedTree(tree: accepted.tree, conflicts: conflicts, excluded: accepted.excluded)
  }
}

/// The files that a restore is to bring.
private struct WantedTree {
  let tree: ObjectID
  let conflicts: [TreePath: Int]
  let excluded: [SkippedFile]
}
