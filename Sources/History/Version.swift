public import Git
internal import Merge
public import WorkTree

/// A version with its changes.
public struct Version: Sendable {
  /// The version's commit.
  public let commit: Commit
  /// Whether a program made it on its own: a derived merge, or a commit that leads a hub's branch
  /// to such a merge.
  public let isDerived: Bool
  /// The version's changes against its first parent, by path. In a list of one note's versions, only the
  /// changes of that note.
  public let changes: [VersionChange]

  /// The device on which it was made; nil for a foreign commit.
  public var deviceID: String? { commit.deviceID }

  /// The version with the text that the editor had loaded before this save, if the folder had a newer text by then.
  public var editedOn: ObjectID? { EditedOnTrailer.base(in: commit.message) }

  /// The message's first line.
  public var subject: String { String(commit.message.prefix { !$0.isNewline }) }
}

extension Commit {
  /// The device on which it was made; nil for a foreign commit.
  public var deviceID: String? { DeviceAddress.deviceID(in: author.email) }
}

/// A file that a version changed.
public struct VersionChange: Hashable, Sendable {
  /// The file's path in the version; its former path, if the version deleted it.
  public let path: TreePath
  /// The file's path before, if it was renamed.
  public let formerPath: TreePath?
  /// The file's blob before; nil if there was none.
  public let old: ObjectID?
  /// The file's blob after the change; nil if it was deleted.
  public let new: ObjectID?

  /// The kind of the change.
  public var kind: ChangeKind {
    new == nil ? .deleted : formerPath != nil ? .renamed : old == nil ? .added : .modified
  }
}

extension History {
  /// The changes of a commit against its first parent, by path. A deleted and an added file count as a rename
  /// if their bytes are equal, or at least half of them: notes-merge(7), "Renames". Renames named in the
  /// commit's own message (notes-mv(1)) come first. Reads the first parent's tree unless the caller passes it.
  package func changes(of commit: Commit, parentTree tree: ObjectID? = nil) throws
    -> [VersionChange]
  {
    let parent = try tree ?? commit.parents.first.map { try repository.commit($0).tree }
    return try changes(from: parent, to: commit.tree, told: RenameTrailer.all(in: commit.message))
  }

  /// The differences between two trees, by path; `old` is nil before the first version.
  public func changes(from old: ObjectID?, to new: ObjectID?) throws -> [VersionChange] {
    try changes(from: old, to: new, told: [])
  }

  func changes(
    from old: ObjectID?, to new: ObjectID?, told: [RenameTrailer]
  ) throws -> [VersionChange] {
    let changes = try repository.changes(from: old, to: new).filter(\.concernsFile)
    let former = try formerPaths(in: changes, told: told)
    let moved = Set(former.values)
    return changes.compactMap { change in
      if change.newFile == nil, moved.contains(change.path) { return nil }
      let source = former[change.path]
      let old = source.flatMap { path in changes.first { $0.path == path } } ?? change
      return VersionChange(
        path: change.path, formerPath: source, old: old.oldFile?.id, new: change.newFile?.id)
    }
  }

  /// The names of a merge's notes in one of its further parents, if they differ there: new path to old
  /// path.
  package func formerPaths(of commit: Commit, in parent: ObjectID) throws -> [TreePath: TreePath] {
    let tree = try repository.commit(parent).tree
    return try formerPaths(in: repository.changes(from: tree, to: commit.tree))
  }

  private func formerPaths(
    in changes: [TreeChange], told: [RenameTrailer] = []
  ) throws -> [TreePath: TreePath] {
    var gone = changes.filter { $0.newFile == nil }.compactMap { change in
      change.oldFile.map { (path: change.path, id: $0.id) }
    }
    var new = changes.filter { $0.oldFile == nil }.compactMap { change in
      change.newFile.map { (path: change.path, id: $0.id) }
    }
    guard !gone.isEmpty, !new.isEmpty else { return [:] }
    var found: [TreePath: TreePath] = [:]
    let arrived = told.isEmpty ? [] : Set(new.map(\.path))
    for file in gone {
      let target = told.lazy.compactMap { $0.target(of: file.path) }.first
      if let target, arrived.contains(target), found[target] == nil { found[target] = file.path }
    }
    let taken = Set(found.values)
    gone.removeAll { taken.contains($0.path) }
    new.removeAll { found[$0.path] != nil }
    let renames = try RenameDetection.renames(gone: gone, new: new, store: repository)
    found.merge(renames.map { ($0.value, $0.key) }) { first, _ in first }
    return found
  }
}

extension TreeChange {
  /// The old and the new entry; nil if it is not a file.
  fileprivate var oldFile: TreeEntry? { old.flatMap { $0.mode.isFile ? $0 : nil } }
  fileprivate var newFile: TreeEntry? { new.flatMap { $0.mode.isFile ? $0 : nil } }
  fileprivate var concernsFile: Bool { oldFile != nil || newFile != nil }
}
