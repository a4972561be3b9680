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
      try planTree(commit.tree, parents: parents)
      items.append(Item(id: id, kind: .commit, base: nil))
      commits += 1
    }
    trees = [:]
    seen = []
  }

  private mutating func planTree(_ tree: ObjectID, parents: [ObjectID]) throws {
    guard !parents.contains(tree), seen.insert(tree).inserted else { return }
    items.append(Item(id: tree, kind: .tree, base: parents.first))
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
        if seen.insert(difference.id).inserted {
          items.append(Item(id: difference.id, kind: .blob, base: files.first))
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
