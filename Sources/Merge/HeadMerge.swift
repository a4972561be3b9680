internal import Git

/// The merge of sorted heads, down to the merges that stand in for several merge bases:
/// notes-merge(7), "Bases".
struct HeadMerge {
  let store: any MergeStore
  let rules: MergeRules
  private var knownBases: [BaseKey: MergeTerm] = [:]

  /// How deep merges of bases may be in one another: more than any history that people make, and
  /// few enough for the stack.
  static let deepestBases = 100

  private struct BaseKey: Hashable {
    let commits: Set<ObjectID>
    let depth: Int
  }

  init(store: any MergeStore, rules: MergeRules) {
    self.store = store
    self.rules = rules
  }

  /// The tree of some heads, two or more, in their order.
  mutating func merge(_ heads: [Commit]) throws -> TreeSum.Result { try merge(heads, depth: 0) }

  private mutating func merge(_ heads: [Commit], depth: Int) throws -> TreeSum.Result {
    let positives = try heads.map { head in
      MergeTerm(
        tree: head.tree, conflicts: try OpenConflicts.conflicts(at: head, in: store), head: head)
    }
    var negatives: [MergeTerm] = []
    for index in heads.indices.dropFirst() {
      negatives.append(try base(of: heads[index], and: heads[..<index], depth: depth))
    }
    var sum = TreeSum(store: store, rules: rules, positives: positives, negatives: negatives)
    return try sum.run()
  }

  /// The merge of the best common ancestors of a head and those before it.
  private mutating func base(
    of head: Commit, and others: ArraySlice<Commit>, depth: Int
  ) throws -> MergeTerm {
    var ids: Set<ObjectID> = []
    for other in others { ids.formUnion(try store.mergeBases(of: other.id, and: head.id)) }
    let key = BaseKey(commits: ids, depth: depth)
    if let known = knownBases[key] { return known }
    let bases = HeadSet.sorted(
      try HeadSet.maximal(ids.map { try store.commit($0) }, in: store))
    let term: MergeTerm
    if let base = bases.first {
      if bases.count == 1 || depth == Self.deepestBases {
        term = MergeTerm(
          tree: base.tree, conflicts: try OpenConflicts.conflicts(at: base, in: store))
      } else {
        let result = try merge(bases, depth: depth + 1)
        term = MergeTerm(tree: result.tree, conflicts: result.conflicts)
      }
    } else {
      term = MergeTerm(tree: .emptyTree, conflicts: [:])
    }
    knownBases[key] = term
    return term
  }
}
