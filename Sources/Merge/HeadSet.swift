internal import Git

/// Sets of heads in their canonical form: notes-merge(7), "Heads".
enum HeadSet {
  /// The commits that no other one descends from, derived merges taken apart, sorted by (author
  /// time, ID).
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
    return sorted(try maximal(Array(found.values), in: store))
  }

  /// The commits that are not ancestors of others among them.
  static func maximal(_ commits: [Commit], in store: any MergeStore) throws -> [Commit] {
    let heads = try store.heads(among: commits.map(\.id))
    return commits.filter { heads.contains($0.id) }
  }

  /// Older before newer.
  static func sorted(_ commits: [Commit]) -> [Commit] {
    commits.sorted { ($0.author.time, $0.id) < ($1.author.time, $1.id) }
  }
}
