package import Git
public import WorkTree

extension History {
  /// The changes that the folder would get if it became a tree, including the loss of unsaved
  /// changes.
  package func changesInFolder(to tree: ObjectID, under folder: TreePath? = nil) throws -> [Change]
  {
    var paths = Set(try workTree.changes().changes.map(\.path))
    if paths.isEmpty { return try renamedChanges(from: tipTree(), to: tree) }
    for change in try repository.changes(from: tipTree(), to: tree) { paths.insert(change.path) }
    return try paths.sorted().compactMap { path in
      if let folder, !path.isBelow(folder) { return nil }
      let wanted = try repository.entry(at: path, in: tree).flatMap { $0.mode.isFile ? $0 : nil }
      var present: ObjectID?
      do {
        present = try repository.hash(blob: workTree.text(of: path))
      } catch WorkTreeError.noSuchNote {}
      if wanted?.id == present { return nil }
      let kind: ChangeKind = wanted == nil ? .deleted : present == nil ? .added : .modified
      return Change(path: path, kind: kind)
    }
  }

  /// The differences between two trees, with a renamed file as one change; some renames may be
  /// known.
  package func renamedChanges(
    from old: ObjectID?, to new: ObjectID, told renames: [RenameTrailer] = []
  ) throws -> [Change] {
    try changes(from: old, to: new, told: renames).map {
      Change(path: $0.path, kind: $0.kind, formerPath: $0.formerPath)
    }
  }

  package func tipTree() throws -> ObjectID? {
    try repository.head().commit.map { try repository.commit($0).tree }
  }
}

extension Change {
  /// A one-line summary of changes.
  public static func summary(of changes: [Change]) -> String {
    func names(_ kind: ChangeKind) -> [String] {
      changes.filter { $0.kind == kind }.map { $0.path.noteTitle }
    }
    let verbs: [(String, [String])] = [
      ("Add", names(.added)), ("Update", names(.modified)), ("Delete", names(.deleted)),
    ]
    let parts = verbs.filter { !$0.1.isEmpty }.map { verb, names in
      names.count <= 3 ? "\(verb) \(names.joined(separator: ", "))" : "\(verb) \(names.count) notes"
    }
    // A line break in a name would end the subject.
    return String(parts.joined(separator: "; ").map { $0.isNewline ? " " : $0 })
  }
}
