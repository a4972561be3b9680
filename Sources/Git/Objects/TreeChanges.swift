/// A file that differs between two trees.
public struct TreeChange: Hashable, Sendable {
  package let path: TreePath
  /// The file in the old tree; nil if it was added.
  public let old: TreeEntry?
  /// The file in the new tree; nil if it was removed.
  public let new: TreeEntry?

  package init(path: TreePath, old: TreeEntry?, new: TreeEntry?) {
    self.path = path
    self.old = old
    self.new = new
  }
}

extension Repository {
  /// The files that differ between two trees, by path; equal folders are not read.
  public func changes(from old: ObjectID?, to new: ObjectID?) throws -> [TreeChange] {
    var found: [TreeChange] = []
    try forEachChange(from: old, to: new) { found.append($0) }
    found.sort { $0.path < $1.path }
    return found
  }

  /// Calls `body` with each file that differs between two trees; a list of them would need much
  /// memory for a large notebook. The order is that of the trees: by path, except if a file and a
  /// folder replace each other.
  public func forEachChange(
    from old: ObjectID?, to new: ObjectID?, _ body: (TreeChange) throws -> Void
  ) throws {
    var walk = TreeComparison(repository: self, trees: [old, new].compactMap { $0 })
    try walk.collect(from: old, to: new, under: TreePath(""), body)
  }

  /// All files of a tree, by path.
  public func files(in tree: ObjectID) throws -> [(path: TreePath, entry: TreeEntry)] {
    try changes(from: nil, to: tree).compactMap { change in change.new.map { (change.path, $0) } }
  }

  fileprivate func content(ofTree id: ObjectID?) throws -> [UInt8] {
    try id.map { try data(of: $0, kind: .tree) } ?? []
  }
}

/// Finds the differences between two trees. After many entries it measures both trees first: a
/// malicious version may amount to billions of files.
private struct TreeComparison {
  let repository: Repository
  let trees: [ObjectID]
  private var compared = 0

  /// The number of entries that are compared before the trees are measured.
  private static var unmeasured: Int { 100_000 }

  init(repository: Repository, trees: [ObjectID]) {
    self.repository = repository
    self.trees = trees
  }

  mutating func collect(
    from old: ObjectID?, to new: ObjectID?, under folder: TreePath,
    _ body: (TreeChange) throws -> Void
  ) throws {
    if old == new { return }
    let (before, after) = try (repository.content(ofTree: old), repository.content(ofTree: new))
    let isWellFormed = try TreeBytes.compare(before, after) { old, new in
      try compare(old?.value(in: before), new?.value(in: after), under: folder, body)
    }
    guard isWellFormed else { throw GitError.malformed(new ?? old ?? .zero, "a damaged tree") }
  }

  private mutating func compare(
    _ old: TreeEntry?, _ new: TreeEntry?, under folder: TreePath,
    _ body: (TreeChange) throws -> Void
  ) throws {
    if old == new { return }
    guard let name = old?.name ?? new?.name else { return }
    compared += 1
    if compared == Self.unmeasured { try measure() }
    let path = folder.appending(name)
    let oldTree = old.flatMap { $0.mode == .tree ? $0.id : nil }
    let newTree = new.flatMap { $0.mode == .tree ? $0.id : nil }
    if oldTree != nil || newTree != nil {
      try collect(from: oldTree, to: newTree, under: path, body)
    }
    let oldFile = oldTree == nil ? old : nil
    let newFile = newTree == nil ? new : nil
    if oldFile != newFile { try body(TreeChange(path: path, old: oldFile, new: newFile)) }
  }

  private func measure() throws {
    for tree in trees {
      if case .overLimit(let what, let limit) = try repository.excess(ofTree: tree) {
        throw GitError.tooLarge(tree: tree, what: what, limit: limit)
      }
    }
  }
}

extension Repository {
  /// The entry at `path` in a tree; nil if there is none.
  public func entry(at path: TreePath, in tree: ObjectID) throws -> TreeEntry? {
    var current = tree
    let components = path.components
    for (position, name) in components.enumerated() {
      let folder = current
      let found = try folderIndexes.entry(name, in: folder) { try content(ofTree: folder) }
      guard let entry = found else { return nil }
      if position == components.count - 1 { return entry }
      guard entry.mode == .tree else { return nil }
      current = entry.id
    }
    return nil
  }

  /// Stores a tree that differs from `tree` in the given files (nil removes one), and returns its
  /// ID. Empty folders are removed. A file replaces a folder with the same path, and a folder
  /// replaces a file.
  public func write(tree: ObjectID?, replacing files: [TreePath: TreeEntry?]) throws -> ObjectID {
    try writeTree(tree, replacing: files.sorted { $0.key < $1.key }[...], from: 0)
      ?? write(tree: [])
  }

  /// - Parameter files: the files below this folder, sorted, so the files of one folder are consecutive.
  /// - Parameter start: the number of bytes of their paths up to this folder.
  private func writeTree(
    _ tree: ObjectID?, replacing files: ArraySlice<(key: TreePath, value: TreeEntry?)>,
    from start: Int
  ) throws -> ObjectID? {
    let before = try content(ofTree: tree)
    var entries: [TreePath: TreeEntry] = [:]
    var below: [(name: TreePath, files: Range<Int>)] = []
    var edits: [TreeBytes.Edit] = []
    var position = files.startIndex
    while position < files.endIndex {
      let (path, entry) = files[position]
      let first = position
      position += 1
      guard let slash = path.bytes[start...].firstIndex(of: UInt8(ascii: "/")) else {
        let name = TreePath(bytes: path.bytes[start...])
        if let entry {
          entries[name] = TreeEntry(name: name, mode: entry.mode, id: entry.id)
        } else {
          edits.append(TreeBytes.Edit(name: name, isTree: false, entry: nil))
        }
        continue
      }
      let folder = path.bytes[start...slash]
      while position < files.endIndex, files[position].key.bytes[start...].starts(with: folder) {
        position += 1
      }
      below.append((TreePath(bytes: folder.dropLast()), first..<position))
    }
    for (name, range) in below {
      let present = entries[name] ?? TreeBytes.entry(name, in: before)
      let folder = present.flatMap { $0.mode == .tree ? $0.id : nil }
      let changes = files[range]
      if folder == nil, changes.allSatisfy({ $0.value == nil }) { continue }
      let id = try writeTree(folder, replacing: changes, from: start + name.bytes.count + 1)
      entries[name] = id.map { TreeEntry(name: name, mode: .tree, id: $0) }
      if id == nil { edits.append(TreeBytes.Edit(name: name, isTree: true, entry: nil)) }
    }
    for (name, entry) in entries {
      let isTree = entry.mode == .tree
      edits.append(TreeBytes.Edit(name: name, isTree: isTree, entry: entry))
      if before.isEmpty { continue }
      edits.append(TreeBytes.Edit(name: name, isTree: !isTree, entry: nil))
    }
    guard let content = TreeBytes.applying(edits, to: before) else {
      throw GitError.malformed(tree ?? .emptyTree, "a damaged tree")
    }
    if content.isEmpty { return nil }
    let folder = files.first.map { TreePath(bytes: $0.key.bytes[..<start]) }
    return try write(.tree, content, of: folder)
  }
}
