package import Git
internal import Glibc

extension WorkTree {
  /// The index without entries that somebody staged with git and every device refuses, for example a link. The
  /// folder keeps the link. At their paths the last version's entries stay. If devices also refuse these, the
  /// commit with them was foreign, and `PortableCommits` replaces it.
  package func withoutUnfit(_ index: IndexFile, staying head: Head) throws -> IndexFile {
    let tree = try head.commit.map { try repository.commit($0).tree }
    // The last version's tree.
    if let known = index.tree, known == tree { return index }
    var unfit: [IndexEntry] = []
    for position in 0..<index.count {
      if !index.mode(at: position).isFile
        || !takesUnfitNames && NameRules.problem(withPath: index.path(at: position)) != nil
      {
        let entry = index[position]
        let standing = try tree.flatMap { try repository.entry(at: entry.path, in: $0) }
        if standing?.id != entry.id || standing?.mode != entry.mode { unfit.append(entry) }
      }
    }
    if unfit.isEmpty { return index }
    let gone = Set(unfit.map(\.path))
    var entries = index.entries.filter { !gone.contains($0.path) }
    for path in gone { entries += try tree.map { try standing(at: path, in: $0) } ?? [] }
    return try IndexFile(entries: entries.sorted { $0.path < $1.path })
  }

  /// The differences between git's staged changes and the last version, by path; empty if only notes wrote
  /// the index.
  package func stagedChanges(in index: IndexFile, since head: Head) throws -> [Change] {
    guard let tip = head.commit else { return [] }
    let tree = try repository.commit(tip).tree
    if index.tree == tree { return [] }
    let standing = Dictionary(
      try repository.files(in: tree).map { ($0.path, $0.entry) }, uniquingKeysWith: { $1 })
    var left = standing
    var changes: [Change] = []
    for entry in index.entries where entry.mode.isFile {
      let former = left.removeValue(forKey: entry.path)
      if former == nil {
        changes.append(Change(path: entry.path, kind: .added))
      } else if former?.id != entry.id {
        changes.append(Change(path: entry.path, kind: .modified))
      }
    }
    changes += left.filter { $0.value.mode.isFile }.map { Change(path: $0.key, kind: .deleted) }
    return changes.sorted { $0.path < $1.path }
  }

  /// The files of a version at a path and below it, as index entries without a status.
  package func standing(at path: TreePath, in tree: ObjectID) throws -> [IndexEntry] {
    guard let entry = try repository.entry(at: path, in: tree) else { return [] }
    let files =
      entry.mode == .tree
      ? try repository.files(in: entry.id).map { (path.appending($0.path), $0.entry) }
      : [(path, entry)]
    return files.map { path, file in
      IndexEntry(path: path, mode: file.mode, id: file.id, status: FileStatus(stat()))
    }
  }
}
