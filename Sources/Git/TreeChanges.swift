/// A file that differs between two trees.
public struct TreeChange: Hashable, Sendable {
  public let path: TreePath
  /// The file in the old tree; nil when it was added.
  public let old: TreeEntry?
  /// The file in the new tree; nil when it was removed.
  public let new: TreeEntry?

  public init(path: TreePath, old: TreeEntry?, new: TreeEntry?) {
    self.path = path
    self.old = old
    self.new = new
  }
}

extension Repository {
  /// The files that differ between two trees, by path; folders that are alike are not entered.
  public func changes(from old: ObjectID?, to new: ObjectID?) throws -> [TreeChange] {
    var found: [TreeChange] = []
    try collectChanges(from: old, to: new, under: TreePath(""), into: &found)
    return found.sorted { $0.path < $1.path }
  }

  /// All files of a tree, by path.
  public func files(in tree: ObjectID) throws -> [(path: TreePath, entry: TreeEntry)] {
    try changes(from: nil, to: tree).compactMap { change in
      change.new.map { (change.path, $0) }
    }
  }

  private func collectChanges(
    from old: ObjectID?, to new: ObjectID?, under folder: TreePath, into found: inout [TreeChange]
  ) throws {
    if old == new { return }
    let differences = try TreeBytes.differences(bytes(ofTree: old), bytes(ofTree: new))
    for (old, new) in differences.values { try compare(old, new, under: folder, into: &found) }
  }

  /// A tree's content as it is stored; nothing has no entries.
  private func bytes(ofTree id: ObjectID?) throws -> TreeBytes {
    guard let id else { return TreeBytes(data: [], id: .emptyTree) }
    if let known = treeCache.content(of: id) { return known }
    let object = try object(id)
    guard object.kind == .tree else { throw GitError.wrongKind(id, expected: .tree) }
    let tree = TreeBytes(data: object.data, id: id)
    treeCache.keep(tree)
    return tree
  }

  private func compare(
    _ old: TreeEntry?, _ new: TreeEntry?, under folder: TreePath, into found: inout [TreeChange]
  ) throws {
    if old == new { return }
    guard let name = old?.name ?? new?.name else { return }
    let path = folder.appending(name)
    let oldTree = old.flatMap { $0.mode == .tree ? $0.id : nil }
    let newTree = new.flatMap { $0.mode == .tree ? $0.id : nil }
    if oldTree != nil || newTree != nil {
      try collectChanges(from: oldTree, to: newTree, under: path, into: &found)
    }
    let oldFile = oldTree == nil ? old : nil
    let newFile = newTree == nil ? new : nil
    if oldFile != newFile { found.append(TreeChange(path: path, old: oldFile, new: newFile)) }
  }
}

extension Repository {
  /// The entry at `path` in a tree, or nil.
  public func entry(at path: TreePath, in tree: ObjectID) throws -> TreeEntry? {
    var current = tree
    let components = path.components
    for (position, name) in components.enumerated() {
      guard let entry = try entry(name, in: bytes(ofTree: current)) else { return nil }
      if position == components.count - 1 { return entry }
      guard entry.mode == .tree else { return nil }
      current = entry.id
    }
    return nil
  }

  private func entry(_ name: TreePath, in tree: TreeBytes) throws -> TreeEntry? {
    let keys = [name.bytes, name.bytes + [UInt8(ascii: "/")]]
    var current = try tree.entry(at: 0)
    while let entry = current {
      if tree.order(entry, against: keys[entry.isTree ? 1 : 0]) == 0 {
        return try tree.value(of: entry)
      }
      current = try tree.entry(at: entry.end)
    }
    return nil
  }

  /// Stores a tree that differs from `tree` in the files given (nil removes one), and returns its
  /// ID. Folders that become empty go; a file where a folder stood, or the reverse, replaces it.
  public func write(tree: ObjectID?, replacing files: [TreePath: TreeEntry?]) throws -> ObjectID {
    try writeTree(
      tree, replacing: files.map { (Array($0.key.components), $0.value) }) ?? write(tree: [])
  }

  private func writeTree(
    _ tree: ObjectID?, replacing files: [(components: [TreePath], entry: TreeEntry?)]
  ) throws -> ObjectID? {
    let before = try bytes(ofTree: tree)
    var entries: [TreePath: TreeEntry] = [:]
    var goneFiles: [TreePath] = []
    var goneFolders: [TreePath] = []
    var below: [TreePath: [(components: [TreePath], entry: TreeEntry?)]] = [:]
    for file in files {
      guard let name = file.components.first else { continue }
      if file.components.count == 1 {
        if let entry = file.entry {
          entries[name] = TreeEntry(name: name, mode: entry.mode, id: entry.id)
        } else {
          goneFiles.append(name)
        }
      } else {
        below[name, default: []].append((Array(file.components.dropFirst()), file.entry))
      }
    }
    for (name, files) in below {
      let present = try entries[name] ?? entry(name, in: before)
      let folder = present.flatMap { $0.mode == .tree ? $0.id : nil }
      if folder == nil, files.allSatisfy({ $0.entry == nil }) { continue }
      if let id = try writeTree(folder, replacing: files) {
        entries[name] = TreeEntry(name: name, mode: .tree, id: id)
      } else {
        entries[name] = nil
        goneFolders.append(name)
      }
    }
    let content = try before.replacing(
      with: Array(entries.values), files: goneFiles, folders: goneFolders)
    return content.isEmpty ? nil : try write(.tree, content)
  }
}
