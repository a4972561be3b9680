package import Git
internal import Glibc

extension WorkTree {
  /// The index without what was put into it by hand and no device takes: a link, for instance, that is
  /// left alone in the folder. What the last version has there stays; what it has of the kind is
  /// carried along, as the commit that brought it was made by hand (`PortableCommits`).
  package func withoutUnfit(_ index: IndexFile, staying head: Head) throws -> IndexFile {
    let tree = try head.commit.map { try repository.commit($0).tree }
    // As the last version left it.
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

  /// How what git has staged in the index differs from the last version, by path; nothing where only notes
  /// wrote it.
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

  /// The files that a version has at a path and below it, as the index has them when it never looked
  /// at the folder.
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
