/// What a pack is going to hold, oldest first.
///
/// Cost follows what is sent: of each commit only the folders that differ from its parents' are
/// entered.
struct PackPlan {
  struct Item {
    let id: ObjectID
    let kind: ObjectKind
    /// An object of the same kind that the receiver has by then: same path, parent's version.
    let base: ObjectID?
  }

  private(set) var items: [Item] = []
  /// How many of the items are commits.
  private(set) var commits = 0

  private let cache: PackObjectCache
  private var seen: Set<ObjectID> = []
  private var trees: [ObjectID: ObjectID] = [:]
  /// The version whose trees are planned for another device.
  private var sent: ObjectID?
  /// The only objects to plan; all when nil.
  private var wanted: Set<ObjectID>?

  /// Plans everything reachable from the commits `wants` and not from the commits `haves`.
  init(
    repository: Repository, wants: [ObjectID], haves: [ObjectID], cache: PackObjectCache
  ) throws {
    self.cache = cache
    let walk = try repository.walk(from: wants, hiding: haves, order: .oldestFirst)
    while let id = try walk.next() {
      let commit = try repository.commit(id)
      trees[id] = commit.tree
      let parents = try commit.parents.map { parent in
        try trees[parent] ?? repository.commit(parent).tree
      }
      sent = id
      try planTree(commit.tree, parents: parents)
      items.append(Item(id: id, kind: .commit, base: nil))
      commits += 1
    }
    trees = [:]
    seen = []
  }

  /// Plans exactly these objects, for a pack that stands by itself.
  ///
  /// The newest come first and whole, and older ones are deltas against them: what is read most is
  /// read fastest. Objects that no commit among them leads to come last.
  init(repacking objects: [ObjectID: ObjectKind], repository: Repository, cache: PackObjectCache)
    throws
  {
    self.cache = cache
    wanted = Set(objects.keys)
    let commits = try Self.parentsFirst(
      objects.filter { $0.value == .commit }.keys.sorted(), in: repository)
    self.commits = commits.count
    for commit in commits {
      trees[commit.id] = commit.tree
      let parents = try commit.parents.compactMap { parent in
        // A parent may be missing in a repository that was cloned without its history.
        try trees[parent]
          ?? (repository.contains(parent) ? repository.commit(parent).tree : nil)
      }
      if try parents.allSatisfy(repository.contains) {
        try planTree(commit.tree, parents: parents)
      }
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

  /// The commits such that each comes after those of its parents that are among them.
  private static func parentsFirst(_ ids: [ObjectID], in repository: Repository) throws -> [Commit]
  {
    let commits = Dictionary(
      try ids.map { ($0, try repository.commit($0)) }, uniquingKeysWith: { first, _ in first })
    var sorted: [Commit] = []
    var visited: Set<ObjectID> = []
    // A history is deep: no recursion.
    for start in commits.values.sorted(by: {
      ($0.committer.time, $0.id) < ($1.committer.time, $1.id)
    }) {
      var stack = [(start, false)]
      while let (commit, parentsDone) = stack.popLast() {
        if parentsDone {
          sorted.append(commit)
        } else if visited.insert(commit.id).inserted {
          stack.append((commit, true))
          stack += commit.parents.compactMap { commits[$0] }.map { ($0, false) }
        }
      }
    }
    return sorted
  }

  /// Plans an object. What a receiver takes for a base it has, sent or not, and must not get again: an
  /// edit that is taken back would else be two deltas against each other, which libgit2 never ends
  /// resolving.
  private mutating func plan(_ id: ObjectID, _ kind: ObjectKind, base: ObjectID?) {
    items.append(Item(id: id, kind: kind, base: base))
    if let base, wanted == nil { seen.insert(base) }
  }

  /// What a commit made by hand holds and every receiver would refuse is told here by its name.
  private func checkFitness(
    of entry: PackTreeEntry, in content: [UInt8], _ version: ObjectID
  ) throws {
    try content.withUnsafeBytes { content in
      let name = entry.name(in: content)
      var why = NameRules.problem(with: name)
      if !entry.isTree, !FileMode(rawValue: entry.mode).isFile {
        why =
          entry.mode == FileMode.submodule.rawValue ? "a repository of its own" : "a symbolic link"
      }
      guard let why else { return }
      throw GitError.unfit(version: version, name: TreePath(bytes: name), why: why)
    }
  }

  private mutating func planTree(_ tree: ObjectID, parents: [ObjectID]) throws {
    guard !parents.contains(tree), wanted?.contains(tree) != false, seen.insert(tree).inserted
    else { return }
    plan(tree, .tree, base: parents.first)
    let content = try cache.tree(tree)
    // What each parent's tree lacks; an entry that any parent has is known to the receiver.
    let differences = try (parents.isEmpty ? [nil] : parents.map(Optional.some)).map { parent in
      let old = try parent.map(cache.tree) ?? []
      guard let found = PackTree.differences(from: old, to: content) else {
        throw GitError.malformed(tree, "not a tree")
      }
      return found
    }
    guard let first = differences.first else { return }
    let others = differences.dropFirst().map { found in
      Dictionary(found.map { ($0.entry.start, $0) }, uniquingKeysWith: { kept, _ in kept })
    }
    for difference in first {
      let counterparts = others.map { $0[difference.entry.start] }
      guard counterparts.allSatisfy({ $0 != nil }) else { continue }
      if let sent { try checkFitness(of: difference.entry, in: content, sent) }
      let old = [difference.old] + counterparts.map { $0?.old }
      if difference.entry.isTree {
        let folders = old.compactMap { $0?.mode == FileMode.tree.rawValue ? $0?.id : nil }
        try planTree(difference.id, parents: folders)
      } else if difference.entry.mode != FileMode.submodule.rawValue {
        let files = old.compactMap { old in
          old.flatMap { FileMode(rawValue: $0.mode).isFile ? $0.id : nil }
        }
        // The same content under another mode.
        if files.contains(difference.id) { continue }
        if wanted?.contains(difference.id) == false { continue }
        if seen.insert(difference.id).inserted {
          plan(difference.id, .blob, base: files.first)
        }
      }
    }
  }
}

/// Contents read lately: the trees of one commit are the bases of the next one's.
final class PackObjectCache {
  private let repository: Repository
  private var contents: [ObjectID: [UInt8]] = [:]
  private var order: [ObjectID] = []
  private var first = 0
  private var size = 0
  private static let capacity = 32 << 20

  init(repository: Repository) { self.repository = repository }

  func tree(_ id: ObjectID) throws -> [UInt8] { try content(id, kind: .tree) }

  func content(_ id: ObjectID, kind: ObjectKind) throws -> [UInt8] {
    if let content = contents[id] { return content }
    let object = try repository.object(id)
    guard object.kind == kind else { throw GitError.wrongKind(id, expected: kind) }
    guard object.data.count < Self.capacity / 4 else { return object.data }
    contents[id] = object.data
    order.append(id)
    size += object.data.count
    while size > Self.capacity, first < order.count {
      size -= contents.removeValue(forKey: order[first])?.count ?? 0
      first += 1
    }
    if first > 4096 {
      order.removeFirst(first)
      first = 0
    }
    return object.data
  }
}
