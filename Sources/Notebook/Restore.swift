public import Git
internal import Glibc
internal import History
internal import Merge
internal import System
public import WorkTree

/// The result of restoring many files, or of a trial.
public struct FolderRestoration: Sendable {
  /// The changes in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and if nothing differs.
  public let version: ObjectID?
  /// The version's files that are skipped because other devices would refuse them, by path.
  public let excluded: [SkippedFile]
}

extension Notebook {
  /// Restores a note from a version, as a new version. Saves the present text first. Returns the new version;
  /// nil if the note already has that text.
  ///
  /// - Parameter target: the path to restore to, instead of the note's own.
  /// - Throws: `nameTaken` if `target` already exists, or if a folder has that name.
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
      // Something else may be in the note's place.
      if made == nil, try !isThere(path) { throw WorkTreeError.obstructed(path: path.description) }
      if made != nil { news.forEach(saveNotice) }
      return made
    }
  }

  /// Copies a note as it was in a version to a new note beside it: `TITLE (DATE TIME)`, with a number if that
  /// name is in use. Throws like `restore`.
  public func copy(_ path: TreePath, from version: Commit) throws -> TreePath {
    // Some file systems do not allow a colon in a name.
    let when = WallClock.text(version.author.time, "%Y-%m-%d %H.%M")
    for number in 1...99 {
      let mark = number == 1 ? " (\(when))" : " (\(when), \(number))"
      let name = TreePath(bytes: Array((path.noteTitle + mark).utf8) + path.noteSuffix.utf8)
      let target = path.parent?.appending(name) ?? name
      do {
        _ = try restore(path, from: version, as: target)
        return target
      } catch NotebookError.nameTaken {
        continue
      }
    }
    throw NotebookError.nameTaken(path, by: path, isFolder: false)
  }

  /// Restores the last version of files that a power cut damaged, all or these. Saves their damaged content
  /// beside it: notes-save(1), "After a power cut".
  ///
  /// - Returns: the files, and the new version; nil if there are none.
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
    // The conflicts in a foreign commit are known only from its ancestors.
    guard try MarkedText.mayHoldBlocks(repository.blob(text)) else { return nil }
    return try OpenConflicts.conflicts(at: version.id, in: repository)[path]
  }

  /// Restores the notebook, or a folder of it, to its state in a version, as a new version: later files are
  /// deleted, and deleted ones return. Saves the folder first.
  ///
  /// - Parameter label: the version's name in the new version's message.
  /// - Throws: `massDeletion`, before any file changes; `notInVersion` if the folder did not exist.
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
      // If the whole notebook is restored, files deleted from the folder return at once.
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

/// The files that a restore will write.
private struct WantedTree {
  let tree: ObjectID
  let conflicts: [TreePath: Int]
  let excluded: [SkippedFile]
}
