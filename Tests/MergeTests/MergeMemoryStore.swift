import Git
import Merge
import TestSupport

/// Objects and history in memory, for laws that need tens of thousands of histories.
final class MergeMemoryStore: MergeStore {
  private var commits: [ObjectID: Commit] = [:]
  private var trees: [ObjectID: Tree] = [:]
  /// The entries of trees in which a name was looked up.
  private var entries: [ObjectID: [TreePath: TreeEntry]] = [:]
  private var blobs: [ObjectID: [UInt8]] = [:]
  private var names: [[UInt8]: ObjectID] = [:]
  private var histories: [ObjectID: Set<ObjectID>] = [:]

  /// How many objects have been read.
  private(set) var reads = 0

  struct Missing: Error {}

  /// The same ID for the same content; which one depends on how many came before, so that a seed
  /// replays.
  private func name(_ kind: UInt8, _ content: [UInt8]) -> ObjectID {
    let key = [kind] + content
    if let known = names[key] { return known }
    var mixer = SplitMix64(seed: UInt64(names.count))
    var bytes: [UInt8] = []
    for _ in 0..<3 {
      withUnsafeBytes(of: mixer.next()) { bytes += $0 }
    }
    let id = ObjectID(bytes: bytes.prefix(20)) ?? .zero
    names[key] = id
    return id
  }

  func commit(_ id: ObjectID) throws -> Commit {
    reads += 1
    guard let commit = commits[id] else { throw Missing() }
    return commit
  }

  func tree(_ id: ObjectID) throws -> Tree {
    if id == .emptyTree { return Tree(entries: []) }
    reads += 1
    guard let tree = trees[id] else { throw Missing() }
    return tree
  }

  func blob(_ id: ObjectID) throws -> [UInt8] {
    reads += 1
    guard let blob = blobs[id] else { throw Missing() }
    return blob
  }

  func size(ofBlob id: ObjectID) throws -> Int { try blob(id).count }

  func write(blob content: [UInt8]) throws -> ObjectID {
    let id = content.isEmpty ? .emptyBlob : name(1, content)
    blobs[id] = content
    return id
  }

  func write(tree entries: [TreeEntry]) throws -> ObjectID {
    if entries.isEmpty { return .emptyTree }
    let tree = Tree(entries: entries)
    let id = name(
      2, tree.entries.flatMap { $0.name.bytes + [0, UInt8($0.mode.rawValue & 0xff)] + $0.id.bytes })
    trees[id] = tree
    return id
  }

  func write(
    commit tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature,
    message: String
  ) throws -> ObjectID {
    let id = name(
      3,
      tree.bytes + parents.flatMap(\.bytes)
        + Array("\(author.name) \(author.time) \(committer.time) \(message)".utf8))
    commits[id] = Commit(
      id: id, tree: tree, parents: parents, author: author, committer: committer,
      message: message)
    return id
  }

  /// The commit and everything it descends from.
  func history(of id: ObjectID) throws -> Set<ObjectID> {
    if let known = histories[id] { return known }
    var history: Set<ObjectID> = [id]
    for parent in try commit(id).parents { history.formUnion(try self.history(of: parent)) }
    histories[id] = history
    return history
  }

  func mergeBases(of left: ObjectID, and right: ObjectID) throws -> [ObjectID] {
    let common = try history(of: left).intersection(history(of: right))
    return try common.filter { candidate in
      try !common.contains { try $0 != candidate && history(of: $0).contains(candidate) }
    }.sorted()
  }

  func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    try history(of: descendant).contains(ancestor)
  }

  func changes(from old: ObjectID?, to new: ObjectID?) throws -> [TreeChange] {
    let before = try files(old ?? .emptyTree)
    let after = try files(new ?? .emptyTree)
    return Set(before.keys).union(after.keys).sorted().compactMap { path in
      before[path] == after[path]
        ? nil : TreeChange(path: path, old: before[path], new: after[path])
    }
  }

  func files(_ tree: ObjectID) throws -> [TreePath: TreeEntry] {
    var found: [TreePath: TreeEntry] = [:]
    for entry in try self.tree(tree).entries {
      if entry.mode == .tree {
        for (path, file) in try files(entry.id) { found[entry.name.appending(path)] = file }
      } else {
        found[entry.name] = entry
      }
    }
    return found
  }

  private func entries(of id: ObjectID) throws -> [TreePath: TreeEntry] {
    let tree = try tree(id)
    if let known = entries[id] { return known }
    let found = Dictionary(tree.entries.map { ($0.name, $0) }) { first, _ in first }
    entries[id] = found
    return found
  }

  func entry(at path: TreePath, in tree: ObjectID) throws -> TreeEntry? {
    var current = tree
    var found: TreeEntry?
    for name in path.components {
      if let found, found.mode != .tree { return nil }
      found = try entries(of: current)[name]
      guard let entry = found else { return nil }
      current = entry.id
    }
    return found
  }

  func write(tree: ObjectID?, replacing changes: [TreePath: TreeEntry?]) throws -> ObjectID {
    var all = try files(tree ?? .emptyTree)
    for (path, entry) in changes { all[path] = entry }
    return try write(all.map { (Array($0.key.components), $0.value) })
  }

  private func write(_ files: [(components: [TreePath], entry: TreeEntry)]) throws -> ObjectID {
    let entries = try Dictionary(grouping: files, by: { $0.components[0] }).map { name, files in
      if files.count == 1, files[0].components.count == 1 {
        return TreeEntry(name: name, mode: files[0].entry.mode, id: files[0].entry.id)
      }
      let below = try write(files.map { (Array($0.components.dropFirst()), $0.entry) })
      return TreeEntry(name: name, mode: .tree, id: below)
    }
    return try write(tree: entries)
  }
}
