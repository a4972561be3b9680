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
  ///   - others: other versions whose histories obey some or all of them, by an admin's word.
  ///   - known: the forgettings that the old history already obeys.
  ///   - kept: those of the received versions that stay as they are, with all below them: another device obeys the
  ///     forgettings with them.
  ///   - own: this device's tip, if it obeys the forgettings already. Versions in it stay, and so do versions on top.
  func run(
    _ heads: [ObjectID], to top: ForgettingVersion, and others: [ObjectID] = [],
    besides known: Set<String>, keeping kept: [ObjectID] = [], obeying own: ObjectID? = nil
  ) throws -> MergeOutcome {
    guard let lock = try GCLock(repository) else {
      throw NotebookError.busy(folder: repository.folder)
    }
    defer { withExtendedLifetime(lock) {} }
    try ForgetRun.checkNothingIsUnfinished(in: history.workTree.stateFolder)
    let former = try shownTip()
    let kinds = Set(top.lines.filter { !known.contains($0.id) }.map(\.kind))
    var rewriting = try HistoryRewriting(
      of: history, roots(heads), like: [top.id] + others, keeping: kept, obeying: own, kinds: kinds)
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
  let met: [ForgettingVersion]
  /// The received lists that name a forgetting which counts neither there nor here.
  let foreign: [ObjectID]
  private let hasOwn: Bool
  private let history: History
  private let known: [ObjectID]
  private let counts: (ForgettingVersion, [ObjectID]) throws -> Bool

  /// - Parameters:
  ///   - heads: received versions.
  ///   - known: versions of this device's history; it obeys every list below them.
  ///   - counts: whether a version with a list counts.
  init(
    of heads: [ObjectID], lacking known: [ObjectID], in history: History,
    counts: @escaping (ForgettingVersion, [ObjectID]) throws -> Bool
  ) throws {
    let repository = history.repository
    let own = try history.obeyed()
    let received = try history.forgettingVersions(below: heads, lacking: known)
    let met = try received.filter { try counts($0, heads) }
    let counted = met.reduce(own?.forgettings ?? []) { $0.union($1.forgettings) }
    foreign = received.filter { !$0.forgettings.isSubset(of: counted) }.map(\.id)
    (self.own, self.met, self.history, self.known) = (own, met, history, known)
    self.counts = counts
    hasOwn =
      try own.map { own in
        func isBelow(_ list: ObjectID) throws -> Bool {
          try heads.contains { try repository.isAncestor(list, of: $0) }
        }
        if try isBelow(own.id) { return true }
        return try Self.lists(like: own, below: known, in: history, counts).contains(where: isBelow)
      } ?? true
  }

  /// The received lists of the forgettings that this device obeys.
  var receivedLikeOwn: [ObjectID] {
    met.filter { $0.forgettings == own?.forgettings }.map(\.id)
  }

  /// The lists of the same forgettings that this history has besides the one that this device obeys: two admins'
  /// devices may have made one each.
  func othersLikeOwn() throws -> [ObjectID] {
    try own.map { try Self.lists(like: $0, below: known, in: history, counts) } ?? []
  }

  private static func lists(
    like own: ForgettingVersion, below known: [ObjectID], in history: History,
    _ counts: (ForgettingVersion, [ObjectID]) throws -> Bool
  ) throws -> [ObjectID] {
    try history.forgettingVersions(below: known, lacking: [own.id]).filter {
      try $0.forgettings == own.forgettings && counts($0, known)
    }.map(\.id)
  }

  var relation: Relation {
    let ours = own?.forgettings ?? []
    let all = met + (hasOwn ? [own].compactMap(\.self) : [])
    // Of several with the same forgettings the newest, which vouches for the most.
    let count = all.map(\.lines.count).max()
    let most = all.last { $0.lines.count == count }
    let theirs = most?.forgettings ?? []
    guard let most, all.allSatisfy({ $0.forgettings.isSubset(of: theirs) }) else {
      return all.isEmpty ? (ours.isEmpty ? .same : .less) : .parted
    }
    if theirs == ours { return .same }
    if ours.isSubset(of: theirs) { return .more(most) }
    return theirs.isSubset(of: ours) ? .less : .others(most)
  }
}
