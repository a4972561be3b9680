internal import Git

/// The merge of sorted heads, including the merges that represent several merge bases:
/// notes-merge(7), "Bases".
struct HeadMerge {
  let store: any MergeStore
  let rules: MergeRules
  let bounds: MergeBounds
  private(set) var budget: MergeBudget
  /// Merged bases, by depth and by the commits whose bases they are.
  private(set) var knownBases: [Int: [Set<ObjectID>: MergeTerm]] = [:]
  /// Ancestors that were already searched for open conflicts.
  private var knownCommits: [ObjectID: Commit] = [:]

  init(store: any MergeStore, rules: MergeRules, bounds: MergeBounds, budget: MergeBudget) {
    self.store = store
    self.rules = rules
    self.bounds = bounds
    self.budget = budget
  }

  /// How deep merges of bases may be nested: more than in any history that people make, and few
  /// enough for the stack.
  static let deepestBases = 100

  /// The merge of two or more heads, in their order.
  mutating func merge(_ heads: [Commit], depth: Int = 0) throws -> TreeSum.Result {
    let positives = try heads.map { head in
      MergeTerm(
        tree: head.tree,
        conflicts: try OpenConflicts.conflicts(at: head, in: store, known: &knownCommits),
        head: head)
    }
    var negatives: [MergeTerm] = []
    for index in heads.indices.dropFirst() {
      negatives.append(try base(of: heads[index], and: heads[..<index], depth: depth))
    }
    var sum = TreeSum(
      store: store, rules: rules, bounds: bounds, budget: budget, positives: positives,
      negatives: negatives)
    let result = try sum.run()
    budget = sum.budget
    return result
  }

  /// The merge of the best common ancestors of a head and the heads before it.
  private mutating func base(
    of head: Commit, and others: ArraySlice<Commit>, depth: Int
  ) throws -> MergeTerm {
    var ids: Set<ObjectID> = []
    for other in others { ids.formUnion(try store.mergeBases(of: other.id, and: head.id)) }
    if let known = knownBases[depth]?[ids] { return known }
    let bases = try HeadSet.maximal(ids.map { try store.commit($0) }, in: store)
    var term = MergeTerm(tree: .emptyTree, conflicts: [:])
    if bases.count > 1, depth < Self.deepestBases {
      let result = try merge(bases, depth: depth + 1)
      term = MergeTerm(tree: result.tree, conflicts: result.conflicts)
    } else if let base = bases.first {
      term.tree = base.tree
      term.conflicts = try OpenConflicts.conflicts(at: base, in: store, known: &knownCommits)
    }
    knownBases[depth, default: [:]][ids] = term
    return term
  }
}

/// Sets of heads in their canonical form: notes-merge(7), "Heads".
enum HeadSet {
  /// The commits that are not ancestors of others, with derived merges replaced by their heads,
  /// sorted by (author time, ID).
  static func reduce(_ ids: [ObjectID], in store: any MergeStore) throws -> [Commit] {
    var found: [ObjectID: Commit] = [:]
    var waiting = ids
    var seen: Set<ObjectID> = []
    while let id = waiting.popLast() {
      guard seen.insert(id).inserted else { continue }
      let commit = try store.commit(id)
      if DerivedMerge.isDerived(commit) {
        waiting += commit.parents
      } else {
        found[id] = commit
      }
    }
    return try maximal(Array(found.values), in: store)
  }

  /// The commits that are not ancestors of others among them, the older first.
  static func maximal(_ commits: [Commit], in store: any MergeStore) throws -> [Commit] {
    let heads = try store.heads(among: commits.map(\.id))
    return commits.filter { heads.contains($0.id) }
      .sorted { ($0.author.time, $0.id) < ($1.author.time, $1.id) }
  }
}
