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
      try transaction.counts(list: transaction.list(lines, on: former))
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
    let version = try transaction.list(lines, on: tip)
    var brought = try HistoryRewriting(
      of: history, heads, like: [version], kinds: kinds(own, besides: other))
    try brought.rewrite(heads)
    let waiting = try heads.map { try MovingOver.form(of: $0, in: brought) }
    let merged = try DerivedMerge.tip(
      of: DerivedMerge.reduce([version] + waiting, in: repository), in: repository)
    try transaction.check(merged, since: former.id, options)
    try ForgottenRepository(
      of: history, rewriting,
      .init(
        tip: tip.id, branch: version, obeyed: version, waiting: waiting, isListedAgain: true),
      progress: { _, _ in }
    ).replace {}
    let outcome = try transaction.mergeWaiting(waiting, after: replaced, options)
    try transaction.listAgain(version)
    let top = try transaction.writer.tip()?.id
    return MergeOutcome(
      former: outcome.former, tip: top,
      heads: try top.map { try DerivedMerge.advertisedHeads(of: $0, in: repository) } ?? [],
      changes: outcome.changes, waiting: outcome.waiting, conflicts: outcome.conflicts,
      reports: outcome.reports)
  }
}

extension WriteTransaction {
  /// Lists the forgettings of two joined histories again on top of their merge, so that an admin's list vouches
  /// for all rewritten versions of both. `version` lists them below the merge.
  func listAgain(_ version: ObjectID) throws {
    guard let own = try history.obeyed(), own.id == version, let tip = try writer.tip(),
      tip.id != version
    else { return try rescued.forgetList() }
    // A run that was killed then may have made it.
    let isListed = try ForgettingVersion(tip)?.lines == own.lines && counts(list: tip.id)
    let list = try isListed ? tip.id : self.list(own.lines, on: tip)
    // Maybe this device is no longer an admin's.
    guard try counts(list: list) else { return try rescued.forgetList() }
    // The folder has that tree, maybe with unsaved changes, which stay.
    try merge(
      Edits(versions: [list]), options: MergeOptions(allowsMassDeletion: true, allowsLarge: true))
    try writer.setDeviceReference(History.obeyedReference, to: list, message: "notes: forget")
    try rescued.forgetList()
  }

  /// The version on top that lists the forgettings of both histories.
  fileprivate func list(_ lines: [ForgettingVersion.Line], on tip: Commit) throws -> ObjectID {
    try writer.makeVersion(
      of: tip.tree, parents: [tip], message: "Forget what another device forgot",
      trailers: lines.map(\.trailer))
  }

  fileprivate func counts(list id: ObjectID) throws -> Bool {
    guard let version = try ForgettingVersion(repository.commit(id)) else { return false }
    return try counts(version, [id])
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
