public import Git

/// What the restore of many files did, or would do.
public struct FolderRestoration: Sendable {
  /// What changed in the folder, by path.
  public let changes: [Change]
  /// The new version; nil in a trial, and where nothing differs.
  public let version: ObjectID?
}

extension Notebook {
  /// The tip as it would be if nothing had been written since a time: what the versions made by then
  /// come to. The same on every device that has them.
  ///
  /// - Parameter time: seconds since 1970.
  /// - Throws: `noSuchVersion` when everything is younger; `name` is what the user called it.
  public func pastTip(at time: Int64, named name: String) throws -> Commit {
    guard let tip = try repository.head().commit else { throw NotebookError.noSuchVersion(name) }
    // On each way back from the tip the first version by then.
    var frontier: [ObjectID] = []
    var waiting = [tip]
    var seen: Set<ObjectID> = []
    while let id = waiting.popLast() {
      guard seen.insert(id).inserted else { continue }
      let commit = try repository.commit(id)
      if commit.author.time <= time, !DerivedMerge.isDerived(commit) {
        frontier.append(id)
      } else {
        waiting += commit.parents
      }
    }
    guard !frontier.isEmpty else { throw NotebookError.noSuchVersion(name) }
    return try repository.commit(DerivedMerge.tip(of: frontier, in: repository).id)
  }

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
        changes: try changesInFolder(to: wanted.tree, under: folder), version: nil)
    }
    return try withWriterLock {
      // With the whole notebook, what is gone from the folder comes back at once.
      _ = try saveLocked(allowsMassDeletion: allowsMassDeletion || folder == nil)
      let wanted = try wantedTree(folder, from: version)
      let former = try tipTree()
      let changes = try repository.changes(from: former, to: wanted.tree)
      let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
      let what = folder.map { $0.description } ?? "the notebook"
      let made = try replace(
        replaced, message: "Restore \(what) as of \(label)", conflicts: wanted.conflicts,
        options: JoinOptions(allowsMassDeletion: allowsMassDeletion, operation: .restore))
      return FolderRestoration(
        changes: made == nil ? [] : try renamedChanges(from: former, to: wanted.tree),
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
    let tip = try tipTree()
    let changes = try repository.changes(from: tip, to: version.tree).filter {
      $0.path.isBelow(folder)
    }
    let replaced = Dictionary(changes.map { ($0.path, $0.new) }) { first, _ in first }
    let tree = try repository.write(tree: tip, replacing: replaced)
    return (tree, conflicts.filter { $0.key.isBelow(folder) })
  }

  /// What would change in the folder if it became a tree, unsaved changes included.
  func changesInFolder(to tree: ObjectID, under folder: TreePath? = nil) throws -> [Change] {
    var paths = Set(try status().changes.map(\.path))
    if paths.isEmpty { return try renamedChanges(from: tipTree(), to: tree) }
    for change in try repository.changes(from: tipTree(), to: tree) { paths.insert(change.path) }
    return try paths.sorted().compactMap { path in
      if let folder, !path.isBelow(folder) { return nil }
      let wanted = try repository.entry(at: path, in: tree).flatMap { $0.mode.isFile ? $0 : nil }
      var present: ObjectID?
      do { present = try repository.hash(blob: text(of: path)) } catch NotebookError.noSuchNote {}
      if wanted?.id == present { return nil }
      let kind: ChangeKind = wanted == nil ? .deleted : present == nil ? .added : .modified
      return Change(path: path, kind: kind)
    }
  }

  /// What differs between two trees, a renamed file as one.
  ///
  /// - Parameter renames: what is known of them.
  func renamedChanges(
    from old: ObjectID?, to new: ObjectID, told renames: [RenameTrailer] = []
  ) throws -> [Change] {
    try changes(from: old, to: new, told: renames).map {
      Change(path: $0.path, kind: $0.kind, formerPath: $0.formerPath)
    }
  }

  func tipTree() throws -> ObjectID? {
    try repository.head().commit.map { try repository.commit($0).tree }
  }
}
