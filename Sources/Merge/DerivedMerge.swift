public import Git

/// The commit that merges a set of heads: notes-merge(7).
public enum DerivedMerge {
  /// The author's name of derived merges, the same on all devices.
  public static let authorName = "notes"
  /// The address of that author, which is not a device's.
  public static let authorEmail = "merge@notes.invalid"

  /// The most heads that are merged: notes-protocol(7), LIMITS.
  package static let mostHeads = 4_096

  /// The merge of a set of heads.
  public struct Tip: Sendable {
    /// The commit: the only head, or the derived merge.
    public var id: ObjectID
    /// The heads, sorted by (author time, ID).
    public var heads: [ObjectID]
    /// The notes with conflict blocks.
    public var conflicts: [TreePath]
    /// The decisions of the merge; empty for one head.
    public var reports: [MergeReport]
  }

  /// Whether a commit has the form of a derived merge. Its content may still be wrong: merges from other
  /// devices are computed again from their heads.
  public static func isDerived(_ commit: Commit) -> Bool {
    commit.parents.count > 1 && commit.author.name == authorName
      && commit.author.email == authorEmail && commit.committer == commit.author
      && MergeTrailers(message: commit.message).version != nil
  }

  /// The heads among these commits, sorted: derived merges are replaced by their parents, and
  /// ancestors of others are left out.
  package static func reduce(_ heads: [ObjectID], in store: any MergeStore) throws -> [ObjectID] {
    try HeadSet.reduce(heads, in: store).map(\.id)
  }

  /// The tip of a set of heads: a single head itself, otherwise their derived merge, which is
  /// written to the store. A pure function of the set: every device gets the same ID.
  package static func tip(
    of heads: [ObjectID], in store: any MergeStore, bounds: MergeBounds = .standard
  ) throws -> Tip {
    try store.withBatchedWrites { try makeTip(of: heads, in: store, bounds) }
  }

  /// The heads that a device advertises. If there are too many, they are the merges in a tip that represent the
  /// heads.
  package static func advertisedHeads(
    of tip: ObjectID, in store: any MergeStore, bounds: MergeBounds = .standard
  ) throws -> [ObjectID] {
    let heads = try reduce([tip], in: store)
    return heads.count <= bounds.parents ? heads : try store.commit(tip).parents
  }

  private static func makeTip(
    of heads: [ObjectID], in store: any MergeStore, _ bounds: MergeBounds
  ) throws -> Tip {
    let heads = try HeadSet.reduce(heads, in: store)
    guard heads.count > 1 else {
      guard let head = heads.first else { throw MergeError.noHeads }
      let conflicts = try OpenConflicts.conflicts(at: head, in: store).keys.sorted()
      return Tip(id: head.id, heads: [head.id], conflicts: conflicts, reports: [])
    }
    // If there are too many heads for one commit, merge groups of heads, and then the merges of the groups as if they
    // were heads.
    var budget = MergeBudget(bounds)
    var level = heads
    var reports: [MergeReport] = []
    while level.count > bounds.parents {
      level = try stride(from: 0, to: level.count, by: bounds.parents).map { start in
        let group = Array(level[start..<min(start + bounds.parents, level.count)])
        if group.count == 1 { return group[0] }
        let made = try commit(merging: group, in: store, bounds, &budget)
        reports += made.reports
        return try store.commit(made.id)
      }
    }
    var tip = try commit(merging: level, in: store, bounds, &budget)
    tip.heads = heads.map(\.id)
    tip.reports = reports + tip.reports
    return tip
  }

  private static func commit(
    merging heads: [Commit], in store: any MergeStore, _ bounds: MergeBounds,
    _ budget: inout MergeBudget
  ) throws -> Tip {
    var merge = HeadMerge(store: store, rules: .all, bounds: bounds, budget: budget)
    let result = try merge.merge(heads)
    budget = merge.budget
    var trailers = MergeTrailers()
    trailers.version = MergeTrailers.currentVersion
    trailers.conflicts = result.conflicts
    for report in result.reports {
      if case .merged(let rules) = report.kind { trailers.merged[report.path] = rules }
    }
    let new = result.reports.filter { $0.kind == .conflict }.map(\.path)
    let time = heads.map { max($0.author.time, $0.committer.time) }.max() ?? 0
    let signature = Signature(name: authorName, email: authorEmail, time: time, offset: 0)
    let id = try store.write(
      commit: result.tree, parents: heads.map(\.id), author: signature, committer: signature,
      message: "Merge \(heads.count) versions\n\n"
        + trailers.lines(within: bounds.listBytes, first: Set(new)).joined(separator: "\n") + "\n")
    return Tip(
      id: id, heads: heads.map(\.id), conflicts: result.conflicts.keys.sorted(),
      reports: result.reports)
  }

  /// The tree of the computed merge of the heads that a derived merge represents. It equals the merge's own
  /// tree if nobody has changed that and this program's rules made it. The objects that this stores are not
  /// needed afterwards.
  package static func expectedTree(
    of merge: Commit, in store: any MergeStore, bounds: MergeBounds = .standard
  ) throws -> ObjectID {
    let heads = try HeadSet.reduce([merge.id], in: store)
    guard heads.count > 1 else { return heads.first?.tree ?? merge.tree }
    // If the heads are too many for one commit, the parents are merges of groups, which are checked separately.
    let merged = heads.count <= bounds.parents ? heads : try merge.parents.map(store.commit)
    var sum = HeadMerge(
      store: store, rules: .all, bounds: bounds, budget: MergeBudget(bounds))
    return try sum.merge(merged).tree
  }

  /// A note of a derived merge, merged again only by lines, so that the results of fine-grained rules become
  /// conflicts with markers. Nil if the merge has no such note.
  ///
  /// Saving the note makes a version that undoes the automatic merge. Its trailers must name the conflict, with
  /// this marker size.
  package static func noteInMarkers(
    _ path: TreePath, at tip: ObjectID, in store: any MergeStore
  ) throws -> (text: [UInt8], markerSize: Int)? {
    let commit = try store.commit(tip)
    guard isDerived(commit) else { return nil }
    let heads = try HeadSet.reduce([tip], in: store)
    guard heads.count > 1 else { return nil }
    var merge = HeadMerge(
      store: store, rules: .lines, bounds: .standard, budget: MergeBudget(.standard))
    let result = try merge.merge(heads)
    guard let size = result.conflicts[path], let entry = try store.entry(at: path, in: result.tree)
    else { return nil }
    return (try store.blob(entry.id), size)
  }
}

/// The errors of a merge, in addition to the repository's.
public enum MergeError: Error, Sendable, Equatable {
  /// There are no heads to merge.
  case noHeads
  /// The note has no conflict block.
  case noConflict
  /// No side of the note's conflict has that name.
  case noSide(name: String)
  /// The note has fewer blocks than that.
  case noBlock(number: Int, of: Int)
}
