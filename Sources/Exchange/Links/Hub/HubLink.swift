package import Git
internal import History
internal import Merge
package import Notebook
package import System

/// The link to a hub: an ordinary git repository, which keeps what it is given and does nothing by
/// itself. notes-hub(7).
///
/// What its branch holds is what the other side shows. This side fetches it, has the session merge it,
/// and moves the branch forward to what comes of it; where somebody else was faster, what that one
/// pushed is shown next.
package final class HubLink: Link {
  package let peer: PeerIdentity
  /// Whether something is to go there that is no head: the list of members, or one of two branches.
  package var isGiving: Bool { gives && (own.tip == tip && members.areNews || isTwinBehind) }
  private var isTwinBehind: Bool { twinTip.map { $0 != tip } ?? false }
  package var isWaitingForOthers = false
  package let hasFetched = true
  package let bringsMissing = true
  package var waker: @Sendable () -> Void { { [wakeUp] in wakeUp.signal() } }

  private let wakeUp: WakeUp
  private let hub: Hub
  private let notebook: Notebook
  private let transfer: Transfer
  private let options: HubOptions
  private let report: (Event) -> Void
  /// The branch there: that of this notebook, or its twin.
  private var branch: String
  /// What the twin stands on, where both are there: it is joined, and goes along with the other one.
  private var twinTip: ObjectID?

  private var gives = false
  private var limits = PackLimits.standard
  private var own = Shown(tip: nil, heads: [])
  /// What the hub's branch holds, as far as is known here.
  private var tip: ObjectID?
  private var members: HubMembers
  private let judge: VersionJudge?
  private var arrived: Quarantine?
  /// Whether everything is fetched, as this notebook lacks objects.
  private var isMending = false
  /// What that brought, until the link is gone: nothing may lead to it yet.
  private var mended: [Quarantine] = []
  private var events: [LinkEvent] = []
  private var attempts = 0
  /// Since when there is nothing to do but to wait for this notebook to show what the hub holds.
  private var idleSince: Instant?
  /// What the hub said to a push over this version.
  private var refusal: (former: ObjectID, words: String)?
  private var traffic = (sentBytes: 0, receivedBytes: 0, sentVersions: 0)

  private var repository: Repository { notebook.repository }

  // How often a branch that others move is fetched and pushed again; the longest pause, in seconds.
  private static let (mostAttempts, longestPause) = (60, 2.0)
  // How long another process's merge is waited for, looked at how often, before the hub is, in seconds.
  private static let (patience, glance) = (10.0, 0.2)

  // A notebook is on one branch, which git calls by one name or by the other.
  private static let twins = ["main": "master", "master": "main"]
  /// The one that stays where a hub has both.
  private static let kept = "main"

  /// A link to a hub, by a git program. Throws `HubError.noBranch`.
  package init(
    to hub: Hub, from notebook: Notebook, by program: GitProgram,
    _ options: HubOptions = HubOptions(), report: @escaping (Event) -> Void = { _ in }
  ) throws {
    guard let branch = try notebook.repository.head().branch else { throw HubError.noBranch }
    self.hub = hub
    self.notebook = notebook
    self.options = options
    self.report = report
    self.branch = branch
    members = HubMembers(options.context)
    judge = options.context.map { VersionJudge($0.membership, notebook, options.taking(from: hub)) }
    wakeUp = try WakeUp()
    peer = PeerIdentity(hub: hub.name, at: hub.url)
    transfer = try Transfer(notebook.repository, by: program)
  }

  package func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms {
    self.own = own
    isMending = options.isMending
    limits = options.allowsLarge ? .large : .standard
    // By what the hub told of the members, too.
    gives = try options.mode.gives && self.options.context?.mayGive() != false
    if try !giveUnseen() {
      // Another process may be there while this one fetches, and remember what it sees then.
      let former = try repository.reference(remembered(branch))
      try look()
      try checkHistory(since: former)
      gives = try options.mode.gives && self.options.context?.mayGive() != false
    }
    if !options.isMending, self.own.tip != tip || members.areNews, try answerForOwn() {
      self.own = Shown(try notebook.state())
    }
    // A session without versions ends at once.
    if gives, self.own.tip == tip, members.areNews { try give() }
    var terms = LinkTerms(
      theirs: try shown,
      exchange: SessionRules.Terms(
        gives: gives, takes: options.mode.receives, owesAnswers: false, ends: true,
        mostPacks: Self.mostAttempts))
    if self.own != own { terms.own = self.own }
    return terms
  }

  // MARK: Who answers for versions

  package func judge(_ heads: [ObjectID], _ commit: (ObjectID) throws -> [UInt8]) throws {
    try judge?.check(heads, commit)
  }

  package func answerForOwn(isRefused: Bool = false) throws -> Bool {
    guard gives, let judge else { return false }
    return try judge.answerForOwn(isRefused ? .refused : .giving)
  }

  // MARK: What the hub shows

  /// Fetches what the branch holds now.
  private func look() throws {
    var known = [own.tip].compactMap { $0 }
    known += try repository.references(under: "refs/remotes/").map(\.id)
    // It says of nothing that it is here.
    if isMending { known = [] }
    var progress = TransferProgress(peer: peer)
    tip = try Self.talking {
      try transfer.fetch(
        branch, twin: Self.twins[branch], from: hub.url, known: Array(Set(known)).sorted(),
        beside: MemberList.folder,
        limits: limits
      ) {
        progress.objectsToReceive = $0.total
        progress.receivedObjects = $0.done
        progress.receivedBytes = $0.bytes
        if $0.stage != nil { report(.progress(progress)) }
      }
    }
    let asked = branch
    try settleBranch()
    try rememberTwin(of: asked)
    let list = transfer.reference(named: MemberList.reference)
    let lacking = try [tip, twinTip, list].compactMap { $0 }.filter { try !repository.contains($0) }
    if lacking.isEmpty, !isMending {
      return try members.look(at: list, in: repository, options)
    }
    guard let (quarantine, bytes) = try transfer.received(limits: limits) else {
      guard lacking.isEmpty else { throw HubError.failed("what it fetched is not there") }
      // Of what the hub has, all is here.
      isMending = false
      return try members.look(at: list, in: repository, options)
    }
    traffic.receivedBytes += bytes
    try members.look(at: list, in: repository, arriving: quarantine, options)
    if isMending {
      try quarantine.join(promised: [tip, twinTip].compactMap { $0 })
      mended.append(quarantine)
      isMending = false
    } else if lacking.contains(where: { $0 == tip || $0 == twinTip }) {
      arrived = quarantine
    } else {
      // So that it does not come again.
      try quarantine.join(promised: [])
    }
  }

  /// Which of two branches is the notebook's there. One device began on the one, another on the other: the
  /// notebook has one history, and it goes where it is.
  private func settleBranch() throws {
    twinTip = nil
    guard let twin = Self.twins[branch], let other = transfer.branch(named: twin) else { return }
    guard let present = tip else {
      (branch, tip) = (twin, other)
      return
    }
    if branch == Self.kept {
      twinTip = other
    } else {
      (branch, tip, twinTip) = (twin, other, present)
    }
    guard let tip, let joined = twinTip, joined != tip else { return }
    // Who gives without a look moves one of them alone.
    let isBehind = try isAncestor(joined, of: tip) || isAncestor(tip, of: joined)
    if !isBehind { report(.hubSplit(peer, kept: branch, joined: Self.twins[branch] ?? "")) }
  }

  private func remembered(_ branch: String) -> String { "refs/remotes/\(hub.name)/\(branch)" }

  /// Keeps whether the hub has both branches, for the next visit. The notebook's own is kept by the session.
  private func rememberTwin(of asked: String) throws {
    guard let twin = Self.twins[asked] else { return }
    let name = remembered(twin)
    if twinTip != nil, let tip, try repository.contains(tip) {
      try notebook.setDeviceReference(name, to: tip, message: "notes: sync")
    } else if twinTip == nil, try repository.reference(name) != nil {
      try notebook.forgetDeviceReference(name)
    }
  }

  private var shown: Shown {
    get throws {
      var shown = try shownOnBranch
      if let twinTip, twinTip != tip {
        shown.heads = Array(Set(shown.heads + [twinTip])).sorted()
      }
      return shown
    }
  }

  private var shownOnBranch: Shown {
    get throws {
      guard let tip else { return Shown(tip: nil, heads: []) }
      // Of one that is not here yet it shows when it has come whether it is a merge.
      guard try repository.contains(tip) else { return Shown(tip: tip, heads: [tip]) }
      return Shown(tip: tip, heads: try DerivedMerge.told(of: tip, in: repository).sorted())
    }
  }

  /// Compares what the hub holds with what it held: notes-hub(7), "A hub that went back".
  private func checkHistory(since former: ObjectID?) throws {
    guard let tip else {
      if let former { report(.hubWentBack(peer, from: former, to: nil)) }
      return
    }
    if let former {
      if try former == tip || isAncestor(former, of: tip) { return }
      report(.hubWentBack(peer, from: former, to: tip))
    }
    guard let own = own.tip, !options.allowsUnrelated else { return }
    guard try transfer.areRelated(own, tip) else { throw HubError.unrelated }
  }

  private func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool {
    guard try repository.contains(descendant) else {
      return try transfer.isAncestor(ancestor, of: descendant)
    }
    // What it descends from is here.
    return try repository.contains(ancestor) && repository.isAncestor(ancestor, of: descendant)
  }

  package func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws {
    guard let arrived else { throw HubError.failed("what it fetched is not there") }
    events.append(.arrived(arrived))
    self.arrived = nil
  }

  // MARK: What this side shows

  package func show(_ shown: Shown) { own = shown }

  package func answer(
    _ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?
  ) { own = shown }

  package func next(until deadline: Instant?) throws -> LinkEvent? {
    if events.isEmpty, gives { try give() }
    if events.isEmpty, let since = idleSince, (since + Self.patience).hasPassed { try lookAgain() }
    if !events.isEmpty {
      idleSince = nil
      return events.removeFirst()
    }
    // A hub says nothing by itself, so only this notebook can change what is to be done.
    idleSince = idleSince ?? .now
    try pause(until: min(deadline ?? .never, .now + Self.glance))
    wakeUp.clear()
    return nil
  }

  /// Waits for a while, or until somebody calls the waker. Throws `SyncError.stopped` when cancelled.
  private func pause(until moment: Instant, waker: Bool = true) throws {
    let stop = options.cancellation?.descriptor ?? -1
    Poll.wait(for: waker ? [wakeUp.descriptor, stop] : [stop], until: moment)
    if options.cancellation?.isCancelled == true { throw SyncError.stopped }
  }

  private func lookAgain() throws {
    try waitForTurn()
    try look()
    events.append(.shows(try shown))
  }

  /// Moves the branch to what this side shows, if that leads forward; else what stands in the way is
  /// shown next.
  private func give() throws {
    guard let own = own.tip, own != tip || members.areNews || isTwinBehind else {
      return events.append(.answered(try shown, heard: .max, refusal: nil))
    }
    let isMerged = try shown.heads.allSatisfy {
      try repository.contains($0) && repository.isAncestor($0, of: own)
    }
    guard isMerged else { return }
    // It has said so, and nothing has changed.
    if let refusal, refusal.former == tip { throw HubError(refusedWith: refusal.words) }
    var version = own
    if let tip, try !repository.isAncestor(tip, of: own) {
      // It is a derived merge of what is merged here: notes-merge(7), "Hubs".
      version = try notebook.hubMerge(of: own, over: tip)
    }
    let isFirst = tip == nil
    let along = twinTip == nil ? nil : Self.twins[branch]
    let outcome = try pushing {
      try transfer.push(
        version, to: branch, along: [along].compactMap { $0 },
        beside: members.references(in: repository), at: hub.url, onProgress: $0)
    }
    switch outcome {
    case .done(let bytes):
      try gave(version, bytes)
      if twinTip != nil { twinTip = version }
      if isFirst { try showBranch(version) }
      // What leads the branch forward is taken like anybody's version; one that lost a race is forgotten.
      events.append(
        version == own ? .answered(try shown, heard: nil, refusal: nil) : .shows(try shown))
    case .moved: try lookAgain()
    case .refused(let words): throw HubError(refusedWith: words)
    }
  }

  /// Moves the branch to what this side shows, without a look at it, where that leads forward from what it
  /// named last, if it still does, and the list of members there is the one here: notes-hub(7), "A visit".
  ///
  /// - Returns: whether it did. Nothing is known of the hub where it did not.
  private func giveUnseen() throws -> Bool {
    // Where there are two branches, both are moved.
    if let twin = Self.twins[branch], try repository.reference(remembered(twin)) != nil {
      return false
    }
    guard gives, let former = try repository.reference(remembered(branch)),
      let shown = own.tip, shown != former, try repository.contains(former),
      try repository.isAncestor(former, of: shown)
    else { return false }
    if try answerForOwn() { own = Shown(try notebook.state()) }
    guard let version = own.tip else { return false }
    do {
      let outcome = try pushing {
        try transfer.push(
          version, to: branch, from: former, beside: members.references(in: repository),
          at: hub.url, onProgress: $0)
      }
      switch outcome {
      case .done(let bytes):
        tip = former
        try gave(version, bytes)
        return true
      case .moved: break
      case .refused(let words): refusal = (former, words)
      }
      return false
    } catch let error as HubError where !error.isFinal {
      // Who may not push there may fetch.
      return false
    }
  }

  /// Has whoever clones the hub get its branch, which nobody had pushed before. A hub that shows another one, and
  /// does not let that be changed, gets it under both names.
  private func showBranch(_ version: ObjectID) throws {
    let isShown = try? Self.talking { try transfer.show(branch, at: hub.url) }
    guard isShown == false, let twin = Self.twins[branch] else { return }
    _ = try Self.talking { try transfer.push(version, to: twin, at: hub.url) }
    twinTip = version
  }

  private func gave(_ version: ObjectID, _ bytes: Int) throws {
    traffic.sentVersions += try repository.commitCount(from: version, lacking: tip)
    traffic.sentBytes += bytes
    tip = version
    members.wereGiven()
  }

  private func pushing(
    _ push: ((GitProgress) -> Void) throws -> Transfer.PushOutcome
  ) throws -> Transfer.PushOutcome {
    var progress = TransferProgress(peer: peer)
    return try Self.talking {
      try push {
        progress.objectsToSend = $0.total
        progress.sentObjects = $0.done
        if $0.stage != nil { report(.progress(progress)) }
      }
    }
  }

  /// Lets others go first, longer each time, so that of many one comes through.
  private func waitForTurn() throws {
    attempts += 1
    guard attempts < Self.mostAttempts else { throw HubError.busy(attempts: attempts) }
    let pause = min(0.02 * Double(1 << min(attempts, 10)), Self.longestPause)
    try self.pause(until: .after(seconds: Double.random(in: 0...pause)), waker: false)
  }

  // MARK: What a hub has no part in

  package func count(into state: inout PeerState) {
    (state.sentBytes, state.receivedBytes) = (traffic.sentBytes, traffic.receivedBytes)
    state.sentVersions = traffic.sentVersions
  }

  package func tell(_ remark: LinkRemark) {}

  package func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result { try body() }

  package func close(_ reason: ByeReason) {}
  package func close(after error: any Error) {}
}
