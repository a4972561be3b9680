internal import Git
internal import History
internal import Merge
internal import Rewriting
internal import WorkTree

extension WriteTransaction {
  /// Compares the forgettings of this device's history and these heads. If they differ, moves over to theirs, or
  /// rewrites their versions for this history: notes-forget(1), "Other devices".
  ///
  /// - Returns: the merge; nil if both obey the same, so that an ordinary merge follows.
  func moveOver(by heads: [ObjectID], _ options: MergeOptions) throws -> MergeOutcome? {
    guard let tip = try repository.head().commit else { return nil }
    let met = try ObeyedForgettings(of: heads, lacking: [tip], in: history, counts: counts)
    let forms = FormerVersions(in: repository)
    let former: ObjectID?
    switch met.relation {
    case .more(let top):
      let others = met.met.filter { $0.id != top.id }.map(\.id)
      var outcome = try repository.keepingPacks {
        try MovingOver(transaction: self, options: options).run(
          heads, to: top, and: others, besides: met.own?.forgettings ?? [],
          keeping: forms.isWhole(heads, below: [top.id] + others) ? heads : [])
      }
      outcome.followed = top.followed(besides: met.own)
      return outcome
    case .others(let other):
      guard let own = met.own else { throw NotebookError.forgotOtherwise }
      var outcome = try repository.keepingPacks {
        try JoiningForgettings(transaction: self, options: options).run(
          heads, own, and: other, lists: met.met.map(\.id))
      }
      outcome.followed = other.followed(besides: own)
      return outcome
    case .parted: throw NotebookError.forgotOtherwise
    case .same:
      if let own = met.own {
        former = try forms.first(
          between: heads, and: tip, below: own.id, received: met.receivedLikeOwn,
          foreign: met.foreign, others: met.othersLikeOwn)
      } else {
        former = try forms.first(
          between: heads, and: tip, obeying: nil, countsRewritten: false)
      }
    case .less:
      former = try forms.first(
        between: heads, and: tip, obeying: met.own?.id, countsRewritten: true)
    }
    guard let former else { return nil }
    guard options.bringsOver, let own = met.own else { throw NotebookError.wasForgotten(former) }
    let lists = try met.receivedLikeOwn + met.othersLikeOwn()
    return try repository.keepingPacks {
      try MovingOver(transaction: self, options: options).run(
        heads, to: own, and: lists, besides: [], obeying: tip)
    }
  }

  /// Merges versions that references keep since the history was replaced; `replaced` are earlier changes of
  /// files in the folder.
  func mergeWaiting(
    _ versions: [ObjectID], after replaced: [Change], _ options: MergeOptions
  ) throws -> MergeOutcome {
    let merged = try merge(Edits(versions: versions), options: options)
    let paths = Set(merged.changes.map(\.path))
    let changes = replaced.filter { !paths.contains($0.path) } + merged.changes
    return MergeOutcome(
      former: merged.former, tip: merged.tip, heads: merged.heads,
      changes: changes.sorted { $0.path < $1.path },
      waiting: merged.waiting, conflicts: merged.conflicts, reports: merged.reports)
  }

  /// Throws if checking out a tip needs the user's consent.
  func check(_ tip: DerivedMerge.Tip, since former: ObjectID?, _ options: MergeOptions) throws {
    try checkBounds(tip)
    if !options.allowsMassDeletion {
      try DeletionGuard(repository: repository).check(checkoutFrom: former, to: tip.id)
    }
    try LargeVersionGuard(workTree: workTree, options: options).check(
      checkoutFrom: former, to: tip.id)
  }

  /// Records the forgettings that this history obeys, after it was received as a whole.
  func rememberObeyed() throws {
    let heads = try [repository.head().commit].compactMap(\.self)
    let met = try ObeyedForgettings(of: heads, lacking: [], in: history, counts: counts)
    guard case .more(let top) = met.relation else { return }
    try writer.setDeviceReference(History.obeyedReference, to: top.id, message: "notes: forget")
  }
}

extension ForgettingVersion {
  fileprivate func followed(besides own: ForgettingVersion?) -> FollowedForgettings {
    let known = own?.forgettings ?? []
    return FollowedForgettings(version: id, lines: lines.filter { !known.contains($0.id) })
  }
}

extension Notebook {
  /// Finds out which forgettings this notebook's history obeys, if it arrived by git or as a copy.
  package func lookForObeyed() throws {
    if try history.obeyed() != nil { return }
    try withWriterLock { try $0.rememberObeyed() }
  }
}
