internal import Git
internal import History
internal import Merge
internal import Rewriting
internal import System
internal import WorkTree

/// Moves a device over to a history that obeys a forgetting, or rewrites received versions from before a
/// forgetting for this history: notes-forget(1), "Other devices".
///
/// As in a forgetting on this device, an ordinary version first removes the content from the files, and a new
/// repository replaces the old one in one step. References in it keep the versions to merge, which this run or
/// the next command does.
struct MovingOver {
  let transaction: WriteTransaction
  let options: MergeOptions

  private var history: History { transaction.history }
  private var repository: Repository { history.repository }

  /// - Parameters:
  ///   - heads: received versions, whose objects are here.
  ///   - top: the version that lists the forgettings to obey.
  ///   - known: the forgettings that the old history already obeys.
  ///   - kept: those of the received versions that stay as they are, with all below them: another device obeys the
  ///     forgettings with them.
  func run(
    _ heads: [ObjectID], to top: ForgettingVersion, besides known: Set<String>,
    keeping kept: [ObjectID] = []
  ) throws -> MergeOutcome {
    guard let lock = try GCLock(repository) else {
      throw NotebookError.busy(folder: repository.folder)
    }
    defer { withExtendedLifetime(lock) {} }
    try ForgetRun.checkNothingIsUnfinished(in: history.workTree.stateFolder)
    let former = try shownTip()
    let kinds = Set(top.lines.filter { !known.contains($0.id) }.map(\.kind))
    var rewriting = try HistoryRewriting(
      of: history, roots(heads), like: [top.id], keeping: kept, kinds: kinds)
    try rewriting.rewrite(roots(heads))
    try check(rewriting, heads, former)
    let (tip, replaced) = try FilesWithout(transaction, options).reach(&rewriting) {
      try roots(heads)
    }
    let waiting = try heads.map { try Self.form(of: $0, in: rewriting) }
    try ForgottenRepository(
      of: history, rewriting,
      .init(tip: tip.id, branch: tip.id, obeyed: top.id, waiting: waiting), progress: { _, _ in }
    ).replace {}
    return try transaction.mergeWaiting(waiting, after: replaced, options)
  }

  static func form(of id: ObjectID, in rewriting: HistoryRewriting) throws -> ObjectID {
    guard let form = rewriting.form(of: id) else { throw ForgetError.written }
    return form
  }

  private func roots(_ heads: [ObjectID]) throws -> [ObjectID] {
    try ForgetRoots(of: repository).commits + heads
  }

  private func shownTip() throws -> Commit {
    guard let tip = try transaction.writer.tip() else { throw ForgetError.notFound }
    return tip
  }

  /// Throws, before any file changes, if the result needs the user's consent.
  private func check(
    _ rewriting: HistoryRewriting, _ heads: [ObjectID], _ former: Commit
  ) throws {
    let all = try ([former.id] + heads).map { try Self.form(of: $0, in: rewriting) }
    let reduced = try DerivedMerge.reduce(all, in: repository)
    guard reduced.count <= DerivedMerge.mostHeads else {
      throw NotebookError.mergeTooLarge("versions side by side", limit: DerivedMerge.mostHeads)
    }
    let tip = try DerivedMerge.tip(of: reduced, in: repository)
    try transaction.check(tip, since: former.id, options)
  }
}

/// The forgettings that received versions obey, compared with this device's: notes-security(7),
/// FORGETTING.
struct ObeyedForgettings {
  /// The relation of received forgettings to those of this device.
  enum Relation {
    case same
    /// The received forgettings include this device's and more; this version lists them.
    case more(ForgettingVersion)
    /// This device's forgettings include the received ones and more.
    case less
    /// Each side obeys a forgetting unknown to the other; this version lists the received ones.
    case others(ForgettingVersion)
    /// The received versions obey different forgettings.
    case parted
  }

  let own: ForgettingVersion?
  /// The received lists that count.
  private let met: [ForgettingVersion]
  private let hasOwn: Bool
  /// Whether a received list names a forgetting that counts neither there nor here.
  let hasForeign: Bool

  /// - Parameters:
  ///   - heads: received versions.
  ///   - known: versions of this device's history; it obeys every list below them.
  ///   - counts: whether a version with a list counts.
  init(
    of heads: [ObjectID], lacking known: [ObjectID], in history: History,
    counts: (ForgettingVersion, [ObjectID]) throws -> Bool
  ) throws {
    let repository = history.repository
    let own = try history.obeyed()
    self.own = own
    let received = try history.forgettingVersions(below: heads, lacking: known)
    let met = try received.filter { try counts($0, heads) }
    self.met = met
    let counted = met.reduce(own?.forgettings ?? []) { $0.union($1.forgettings) }
    hasForeign = !received.allSatisfy { $0.forgettings.isSubset(of: counted) }
    hasOwn =
      try own.map { own in
        try heads.contains { try repository.isAncestor(own.id, of: $0) }
      } ?? true
  }

  /// Whether an admin's device listed the same forgettings as this device's list, apart from it.
  var hasOtherList: Bool { met.contains { $0.forgettings == own?.forgettings } }

  var relation: Relation {
    let ours = own?.forgettings ?? []
    let all = met + (hasOwn ? [own].compactMap(\.self) : [])
    let most = all.max { $0.lines.count < $1.lines.count }
    let theirs = most?.forgettings ?? []
    guard let most, all.allSatisfy({ $0.forgettings.isSubset(of: theirs) }) else {
      return all.isEmpty ? (ours.isEmpty ? .same : .less) : .parted
    }
    if theirs == ours { return .same }
    if ours.isSubset(of: theirs) { return .more(most) }
    return theirs.isSubset(of: ours) ? .less : .others(most)
  }
}
