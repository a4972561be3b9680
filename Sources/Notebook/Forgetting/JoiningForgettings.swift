internal import Git
internal import History
internal import Merge
internal import Rewriting
internal import System
internal import WorkTree

/// Joins two histories that each obey a forgetting unknown to the other, on an admin's device: notes-forget(1),
/// "Other devices". It first removes from this history the content that the other one has forgotten, by the same
/// steps as a forgetting on this device, and then brings the other one's versions over.
struct JoiningForgettings {
  let transaction: WriteTransaction
  let options: MergeOptions

  /// - Parameters:
  ///   - heads: received versions, whose objects are here.
  ///   - own: the version that lists this history's forgettings.
  ///   - other: the version that lists the other history's.
  ///   - lists: all received versions of this kind that count. Only what lies below them tells what was forgotten.
  /// - Throws: `NotebookError.forgotOtherwise` if this device is not an admin's.
  func run(
    _ heads: [ObjectID], _ own: ForgettingVersion, and other: ForgettingVersion,
    lists: [ObjectID]
  ) throws -> MergeOutcome {
    let history = transaction.history
    let repository = history.repository
    let lines = other.lines.filter { !own.forgettings.contains($0.id) } + own.lines
    guard lines.count <= ForgettingVersion.mostLines, let former = try transaction.writer.tip(),
      try counts(top(on: former, lines))
    else { throw NotebookError.forgotOtherwise }
    guard let lock = try GCLock(repository) else {
      throw NotebookError.busy(folder: repository.folder)
    }
    defer { withExtendedLifetime(lock) {} }
    try ForgetRun.checkNothingIsUnfinished(in: history.workTree.stateFolder)
    func kinds(_ one: ForgettingVersion, besides two: ForgettingVersion) -> Set<String> {
      Set(one.lines.filter { !two.forgettings.contains($0.id) }.map(\.kind))
    }
    var rewriting = try HistoryRewriting(
      of: history, ForgetRoots(of: repository).commits, besides: lists,
      kinds: kinds(other, besides: own))
    let (tip, replaced) = try FilesWithout(transaction, options).reach(&rewriting) {
      try ForgetRoots(of: repository).commits
    }
    let version = try top(on: tip, lines)
    var brought = try HistoryRewriting(
      of: history, heads, like: [version], kinds: kinds(own, besides: other))
    try brought.rewrite(heads)
    let waiting = try heads.map { try MovingOver.form(of: $0, in: brought) }
    let merged = try DerivedMerge.tip(
      of: DerivedMerge.reduce([version] + waiting, in: repository), in: repository)
    try transaction.check(merged, since: former.id, options)
    try ForgottenRepository(
      of: history, rewriting,
      .init(tip: tip.id, branch: version, obeyed: version, waiting: waiting),
      progress: { _, _ in }
    ).replace {}
    return try listed(
      transaction.mergeWaiting(waiting, after: replaced, options), lines, since: version)
  }

  /// Lists the forgettings again on top of the merge of both histories, so that an admin's list vouches for all
  /// rewritten versions of both.
  private func listed(
    _ merged: MergeOutcome, _ lines: [ForgettingVersion.Line], since version: ObjectID
  ) throws -> MergeOutcome {
    guard let tip = merged.tip, tip != version else { return merged }
    let list = try top(on: transaction.repository.commit(tip), lines)
    // The folder has that tree, maybe with unsaved changes, which stay.
    let top = try transaction.merge([list], options: MergeOptions(allowsMassDeletion: true))
    try transaction.writer.setDeviceReference(
      History.obeyedReference, to: list, message: "notes: forget")
    return MergeOutcome(
      former: merged.former, tip: top.tip, heads: top.heads, changes: merged.changes,
      waiting: merged.waiting, conflicts: merged.conflicts, reports: merged.reports)
  }

  /// The version on top that lists the forgettings of both.
  private func top(on tip: Commit, _ lines: [ForgettingVersion.Line]) throws -> ObjectID {
    try transaction.writer.makeVersion(
      of: tip.tree, parents: [tip], message: "Forget what another device forgot",
      trailers: lines.map(\.trailer))
  }

  private func counts(_ id: ObjectID) throws -> Bool {
    guard let version = try ForgettingVersion(transaction.repository.commit(id)) else {
      return false
    }
    return try transaction.counts(version, [id])
  }
}

/// Removes the forgotten content from the files, by an ordinary version on top.
struct FilesWithout {
  private let transaction: WriteTransaction
  private let options: MergeOptions
  private static let mostTurns = 5

  init(_ transaction: WriteTransaction, _ options: MergeOptions) {
    (self.transaction, self.options) = (transaction, options)
  }

  /// Rewrites the history of these roots, until its tip agrees with the files in the folder.
  ///
  /// - Returns: the replacement of the branch's version, and the changes in the folder.
  func reach(
    _ rewriting: inout HistoryRewriting, roots: () throws -> [ObjectID]
  ) throws -> (tip: Commit, replaced: [Change]) {
    let repository = transaction.repository
    try rewriting.rewrite(roots())
    var replaced: [TreePath: Change] = [:]
    for _ in 0..<Self.mostTurns {
      let files = rewriting.files(in: try shownTip().id)
      for path in files.keys where EditorLock.isOpen(path, in: repository.folder) {
        throw ForgetError.isOpen(path)
      }
      if !files.isEmpty {
        let made = try transaction.replace(
          files, message: "Forget", operation: .edit,
          allowsMassDeletion: options.allowsMassDeletion)
        if let made { rewriting.omit(made) }
        for (path, entry) in files {
          replaced[path] = Change(path: path, kind: entry == nil ? .deleted : .modified)
        }
      }
      try rewriting.rewrite(roots())
      let shown = try shownTip()
      if let form = rewriting.form(of: shown.id), case let tip = try repository.commit(form),
        tip.tree == shown.tree
      {
        return (tip, Array(replaced.values))
      }
    }
    throw ForgetError.written
  }

  private func shownTip() throws -> Commit {
    guard let tip = try transaction.writer.tip() else { throw ForgetError.notFound }
    return tip
  }
}
