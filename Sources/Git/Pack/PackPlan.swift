/// The objects for a pack, oldest first. The cost depends on the objects sent: for each commit,
/// only folders that differ from its parents' are read.
struct PackPlan {
  struct Item {
    let id: ObjectID
    let kind: ObjectKind
    /// An object of the same kind on which a delta can be based: the parent's version at the same path. The receiver
    /// has it by the time it reads this object.
    let base: ObjectID?
  }

  private(set) var items: [Item] = []
  private(set) var commits = 0
  /// The merge commits among the commits sent to another device.
  private(set) var merges: [ObjectID] = []

  private let repository: Repository
  private var seen: Set<ObjectID> = []
  private var trees: [ObjectID: ObjectID] = [:]
  /// The version whose trees are being planned for another device.
  private var sent: ObjectID?
  /// The objects to plan; nil for all.
  private var wanted: Set<ObjectID>?

  /// Plans everything reachable from the commits `wants` and not from the commits `haves`.
  init(repository: Repository, wants: [ObjectID], haves: [ObjectID]) throws {
    self.repository = repository
    for id in try repository.commits(from: wants, lacking: haves) {
      let commit = try repository.commit(id)
      trees[id] = commit.tree
      let parents = try commit.parents.map { parent in
        try trees[parent] ?? repository.commit(parent).tree
      }
      sent = id
      try planTree(commit.tree, parents: parents)
      items.append(Item(id: id, kind: .commit, base: nil))
      commits += 1
      if parents.count > 1 { merges.append(id) }
    }
    trees = [:]
    seen = []
  }

  /// Plans exactly these objects, for a self-contained pack. The newest objects are first and complete, and
  /// older ones are deltas against them, so that the most frequently read objects are the fastest to read.
  /// Objects that no commit refers to are last.
  init(repacking objects: [ObjectID: ObjectKind], repository: Repository) throws {
    self.repository = repository
    wanted = Set(objects.keys)
    var commits: [ObjectID: Commit] = [:]
    for (id, kind) in objects where kind == .commit { commits[id] = try repository.commit(id) }
    self.commits = commits.count
    let byTime = commits.values.sorted { ($0.committer.time, $0.id) < ($1.committer.time, $1.id) }
    let sorted = parentsFirst(byTime.map(\.id)) { commits[$0]?.parents }
    for commit in sorted.compactMap({ commits[$0] }) {
      trees[commit.id] = commit.tree
      let parents = try commit.parents.compactMap { parent in
        // A parent may be missing in a repository that was cloned without its history.
        try trees[parent] ?? (repository.contains(parent) ? repository.commit(parent).tree : nil)
      }
      if try parents.allSatisfy(repository.contains) { try planTree(commit.tree, parents: parents) }
      items.append(Item(id: commit.id, kind: .commit, base: nil))
    }
    var successors: [ObjectID: ObjectID] = [:]
    for item in items { if let base = item.base { successors[base] = item.id } }
    items = items.reversed().map { Item(id: $0.id, kind: $0.kind, base: successors[$0.id]) }
    let planned = Set(items.map(\.id))
    for (id, kind) in objects.sorted(by: { $0.key < $1.key }) where !planned.contains(id) {
      items.append(Item(id: id, kind: kind, base: nil))
    }
    trees = [:]
    seen = []
  }

  /// Plans an object, sent or not, that the receiver can then use as a base. It must not be planned again: a
  /// reverted edit would then become two deltas against each other, which libgit2 never finishes resolving.
  private mutating func plan(_ id: ObjectID, _ kind: ObjectKind, base: ObjectID?) {
    items.append(Item(id: id, kind: kind, base: base))
    if let base, wanted == nil { seen.insert(base) }
  }

  /// Throws an error that names an entry of a foreign commit which every receiver would refuse.
  private func checkFitness(
    of entry: TreeEntryBytes, in content: [UInt8], _ version: ObjectID
  ) throws {
    try content.withUnsafeBytes { content in
      let name = entry.name(in: content)
      var why = NameRules.problem(with: name)
      if !entry.isTree, !entry.mode.isFile {
        why = entry.mode == .submodule ? "a repository of its own" : "a symbolic link"
      }
      guard let why else { return }
      throw GitError.unfit(version: version, name: TreePath(bytes: name), why: why)
    }
  }

  private mutating func planTree(_ tree: ObjectID, parents: [ObjectID]) throws {
    guard !parents.contains(tree), wanted?.contains(tree) != false, seen.insert(tree).inserted
    else { return }
    plan(tree, .tree, base: parents.first)
    let content = try repository.data(of: tree, kind: .tree)
    // For each parent, the positions of the entries that the parent's tree lacks. If any parent's tree has an entry,
    // the receiver knows it.
    let differences = try (parents.isEmpty ? [nil] : parents.map(Optional.some)).map { parent in
      let old = try parent.map { try repository.data(of: $0, kind: .tree) } ?? []
      var found: [Int: (entry: TreeEntryBytes, old: TreeEntryBytes?)] = [:]
      let isWellFormed = TreeBytes.compare(old, content) { counterpart, entry in
        if let entry { found[entry.start] = (entry, counterpart) }
      }
      guard isWellFormed else { throw GitError.malformed(tree, "not a tree") }
      return found
    }
    for start in differences[0].keys.sorted() {
      let found = differences.compactMap { $0[start] }
      guard found.count == differences.count, let entry = found.first?.entry else { continue }
      if let sent { try checkFitness(of: entry, in: content, sent) }
      let old = found.compactMap(\.old)
      if entry.isTree {
        try planTree(entry.id, parents: old.filter(\.isTree).map(\.id))
      } else if entry.mode != .submodule {
        let files = old.filter(\.mode.isFile).map(\.id)
        // The same content may be in the pack with another mode.
        if !files.contains(entry.id), wanted?.contains(entry.id) != false,
          seen.insert(entry.id).inserted
        {
          plan(entry.id, .blob, base: files.first)
        }
      }
    }
  }
}
