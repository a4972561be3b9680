internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// One conversation about a notebook with another place that has it: notes-protocol(7), SESSION.
///
///     hello ↔ hello            who, what heads
///     membership ↔ membership  if the digests differ
///     heads →                  what this side shows now; at any time
///          ← want              what of it the other side lacks
///     pack, data →
///          ← applied           what the other side shows then
///     bye ↔ bye
///
/// Both directions run at once and do not wait for each other. `SessionRules` decides what is done
/// next, and a `Link` does it; an instance belongs to the session's thread, and what other threads want
/// of it comes through its `SessionHandle`.
public final class Session {
  let link: any Link
  let notebook: Notebook
  let keeper: any SessionKeeper
  let report: (Event) -> Void
  private let handle: SessionHandle
  let terms: LinkTerms

  private(set) var rules: SessionRules
  private(set) var own: Shown
  private(set) var theirs: Shown
  private var state = PeerState()
  private var merges: [MergeOutcome] = []
  private var refused: (heads: [ObjectID], reason: MergeRefusal)?
  private var hasNegotiated = false
  /// Whether this notebook lacks objects and everything is asked for; until then nothing is shown.
  private var isMending: Bool
  private var packsSinceOpening = 0
  /// Packs that came and whose versions are not merged: git would else take them for garbage.
  private var unmerged: [Quarantine] = []
  private var editing: [TreePath] = []
  private var recordDue: Instant?

  /// How long nothing must happen before what the peer has is written down, in seconds.
  private static let quiet = 1.0
  /// After how many packs the repository is opened anew: packs are merged into others meanwhile.
  private static let packsUntilReopening = 50

  init(
    _ link: any Link, _ notebook: Notebook, _ keeper: any SessionKeeper, _ options: SessionOptions,
    _ report: @escaping (Event) -> Void
  ) throws {
    self.link = link
    self.notebook = notebook
    self.keeper = keeper
    self.report = report
    let (present, replaced, isMending) = try Self.begin(link, notebook, keeper, options)
    var options = options
    options.isMending = isMending
    self.isMending = isMending
    own = isMending ? Shown(tip: nil, heads: []) : Shown(present)
    terms = try link.open(showing: own, options)
    if let shown = terms.own {
      own = shown
      keeper.sessions.show(try notebook.state())
    }
    theirs = terms.theirs
    rules = SessionRules(terms.exchange, own: own.heads, theirs: theirs.heads)
    handle = SessionHandle(
      peer: link.peer, isOpenedHere: options.isOpenedHere, ends: terms.exchange.ends,
      wake: link.waker)
    if !rules.areAlike, !isMending { try answerForOwn() }
    report(.peer(link.peer))
    if let replaced { report(.replaced(replaced, notebook: notebook.identity.id)) }
  }

  func run() throws -> SessionResult {
    try keeper.begin(handle)
    defer { keeper.end(handle) }
    do {
      try exchange()
    } catch {
      guard case SyncError.peerEnded(.done, _) = error, terms.exchange.ends, !rules.isAsking else {
        finish()
        throw error
      }
    }
    // It shows nothing any more that is not merged.
    if terms.exchange.ends, terms.exchange.takes { held.forget(link.peer.deviceID, isThere: false) }
    try recordPeer()
    link.count(into: &state)
    var result = SessionResult(peer: link.peer, shows: state, tip: own.tip)
    result.joins = merges
    result.hasNews = !rules.isConfirmed
    result.tipDifference = try compareTips()
    return result
  }

  /// Writes down what is known of a peer whose session broke off.
  private func finish() {
    try? recordPeer()
    _ = try? compareTips()
  }

  private func exchange() throws {
    recordDue = .now + Self.quiet
    updateKeeper()
    if isMending { try askForMissing() }
    while true {
      try obey(handle.takeRequests())
      try readNotebook()
      if try advance() { return }
      let due = [recordDue, handle.showDue].compactMap { $0 }.min()
      if let event = try link.next(until: due) { try take(event) }
      if let due = recordDue, Instant.now >= due {
        recordDue = nil
        updateKeeper()
        finish()
      }
    }
  }

  private func advance() throws -> Bool {
    let repository = notebook.repository
    while true {
      rules.isGiving = link.isGiving
      let step = try rules.next(
        lacking: { try $0.filter { try !repository.contains($0) } }, isShown: notebook.history.shows
      )
      switch step {
      case .fetch(let heads): try fetch(heads)
      case .merge: try merge(nil, theirs.heads)
      case .answer: try answer()
      case .end: return true
      case .wait: return false
      }
    }
  }

  private func fetch(_ heads: [ObjectID]) throws {
    guard link.hasFetched || keeper.sessions.mayFetch(heads, handle) else {
      rules.leaveToOthers()
      link.isWaitingForOthers = true
      return
    }
    let known = try hasNegotiated ? own.heads : haves()
    hasNegotiated = true
    rules.ask(for: heads)
    try link.fetch(heads, known: known)
  }

  private func merge(_ quarantine: Quarantine?, _ wanted: [ObjectID]) throws {
    // What the peer shows by now may need another pack.
    let shown = theirs.heads
    let peer = link.peer
    var progress = TransferProgress(
      peer: peer, stage: .joining, objectsToReceive: quarantine?.objectCount ?? 0,
      receivedContent: quarantine?.contentBytes ?? 0)
    report(.progress(progress))
    let meter = WorkMeter()
    let start = Instant.now
    let tell = {
      (progress.written, progress.filesToWrite) = meter.reading
      self.report(.progress(progress))
    }
    let joining = try link.whileBusy(onTick: tell) {
      try self.join(quarantine, wanted, shown: shown, meter)
    }
    if let quarantine {
      rules.arrived()
      unmerged.append(quarantine)
    }
    if joining.result != nil { unmerged = [] }
    keeper.sessions.endFetch(handle)
    state.receivedVersions += joining.received
    // What the peer has made on top of what is here is shown before what it sends for it.
    if joining.result == nil, quarantine == nil { return try fetch(wanted) }
    rules.settle(joining.heads)
    switch joining.result {
    case nil: return
    case .success(let joined)?:
      held.forget(peer.deviceID, isThere: false)
      try answerForOwn()
      // Another session may have brought the same.
      if joining.received > 0 || joined.tip != joined.former {
        if terms.exchange.ends { merges.append(joined) }
        report(.received(from: peer, joined, notebook: notebook.identity.id))
      }
      try answer()
      if joining.received > 0 {
        try checkMerges(since: joined, for: .now - start)
      }
    case .failure(let failure)?:
      refused = (shown, failure.reason)
      recordHeld(PeerState.Refusal(failure.reason, isThere: false), of: shown, failure.words)
      try answer(refusal: failure.reason)
      let error = SyncError.notMerged(failure.reason, failure.words)
      if terms.exchange.ends { throw error }
      report(.failed(SyncFailure(peer: peer, address: peer.address, error: error)))
    }
    updateKeeper()
    packsSinceOpening += 1
    if packsSinceOpening >= Self.packsUntilReopening { closeCaches() }
  }

  /// Computes the derived merges that have come again, which takes a small part of the time that taking them
  /// in took. What is left is computed when somebody looks at it.
  private func checkMerges(since joined: MergeOutcome, for seconds: Double) throws {
    let notebook = self.notebook
    let altered = try link.whileBusy(onTick: {}) {
      let check = MergeCheck(of: notebook.history, seconds: max(0.05, seconds / 20))
      defer { check.remember() }
      return try check.altered(below: joined.heads, since: joined.former)
    }
    if altered.isEmpty { return }
    report(
      .alteredMerges(
        from: link.peer, altered.map(\.commit.id), notebook: notebook.identity.id))
  }

  private func answer(refusal: MergeRefusal? = nil) throws {
    let present = try notebook.state()
    own = Shown(present)
    rules.tell(own.heads)
    try link.answer(
      own, heard: rules.answer(), received: state.receivedVersions,
      conflicts: present.conflictCount, refusal: refusal)
  }

  /// Answers for what this device shows, where that is to be; returns whether it did, of which every
  /// session is told.
  @discardableResult
  private func answerForOwn(isRefused: Bool = false) throws -> Bool {
    guard try link.answerForOwn(isRefused: isRefused) else { return false }
    keeper.sessions.show(try notebook.state())
    return true
  }

  private func closeCaches() {
    guard rules.fetch == .none, !link.isGiving else { return }
    packsSinceOpening = 0
    notebook.repository.close()
  }

  // MARK: What other processes, other threads and the peer want

  /// Another process of this notebook may have saved or merged meanwhile, even what this session fetched.
  /// What the session knows of the notebook it reads again each time it looks up. One that goes on is told by
  /// its keeper, which watches the notebook.
  private func readNotebook() throws {
    guard terms.exchange.ends, !isMending, try notebook.repository.head().commit != own.tip else {
      return
    }
    let present = Shown(try notebook.state())
    if present == own { return }
    own = present
    rules.tell(own.heads)
    // The branch may have gone back, too.
    rules.unsettle()
    try link.show(own)
  }

  private func obey(_ requests: SessionHandle.Requests) throws {
    if let reason = requests.end { throw SyncError.ended(reason) }
    if let state = requests.state, !isMending, Shown(state) != own {
      // Else it is told of that in a moment.
      if try !answerForOwn() {
        own = Shown(state)
        rules.tell(own.heads)
        try link.show(own)
      }
    }
    if let paths = requests.editing, paths != editing {
      editing = paths
      try link.tell(.editing(paths))
    }
    for invitation in requests.invitations { try link.tell(.invitation(invitation)) }
    if requests.asksForPing { try link.tell(.ping) }
    if requests.closesCaches { closeCaches() }
    if requests.reconsiders {
      rules.reconsider()
      link.isWaitingForOthers = false
    }
  }

  private func take(_ event: LinkEvent) throws {
    switch event {
    case .shows(let shown): hear(shown, answering: nil)
    case .answered(let shown, let heard, let refusal):
      if let refusal {
        recordHeld(PeerState.Refusal(refusal, isThere: true), of: own.heads)
        // So that the next session goes better, whatever the two know differently.
        if refusal == .unsigned { try answerForOwn(isRefused: true) }
        let (peer, error) = (link.peer, SyncError.notMergedAtPeer(refusal))
        if terms.exchange.ends { throw error }
        report(.failed(SyncFailure(peer: peer, address: peer.address, error: error)))
      } else {
        held.forget(link.peer.deviceID, isThere: true)
      }
      state.refusal = refusal.map { PeerState.Refusal($0, isThere: true) }
      hear(shown, answering: heard)
    case .arrived(let quarantine):
      guard case .asked(let wanted) = rules.fetch else { return }
      if isMending { return try takeMissing(quarantine, wanted) }
      try merge(quarantine, wanted)
    case .slow: keeper.sessions.endFetch(handle)
    case .editing(let paths):
      state.editing = paths
      updateKeeper()
    }
  }

  // MARK: Objects that are missing here: notes-protocol(7), "Missing objects"

  private func askForMissing() throws {
    guard terms.exchange.takes, !theirs.heads.isEmpty, !link.hasFetched else {
      return try endMending()
    }
    hasNegotiated = true
    rules.ask(for: theirs.heads)
    try link.fetch(theirs.heads, known: [])
  }

  private func takeMissing(_ quarantine: Quarantine, _ wanted: [ObjectID]) throws {
    _ = try link.whileBusy(onTick: {}) { try quarantine.join(promised: wanted) }
    rules.arrived()
    unmerged.append(quarantine)
    try endMending()
  }

  /// Shows what this device has, and goes on as any session.
  private func endMending() throws {
    let device = link.peer.deviceID
    notebook.missingObjects.note(asked: device)
    notebook.repository.close()
    let (present, _) = try link.whileBusy(onTick: {}) { try self.keeper.currentState() }
    let missing = try link.whileBusy(onTick: {}) { try self.notebook.lookForMissing() }
    if missing.isEmpty {
      report(.completed(from: link.peer, notebook: notebook.identity.id))
    } else {
      // What is new is asked of the others; this one has sent what it has.
      notebook.missingObjects.note(asked: device)
    }
    isMending = false
    own = Shown(present)
    rules.tell(own.heads)
    rules.unsettle()
    try link.show(own)
  }

  private func hear(_ shown: Shown, answering: Int?) {
    theirs = shown
    rules.hear(shown.heads, answering: answering)
    recordDue = .now + Self.quiet
    updateKeeper()
  }

  private func updateKeeper() {
    state.tip = theirs.tip
    state.heads = theirs.heads
    link.count(into: &state)
    if let refused, refused.heads == theirs.heads {
      state.refusal = PeerState.Refusal(refused.reason, isThere: false)
    } else if state.refusal?.isThere == false {
      state.refusal = nil
    }
    keeper.update(state, of: handle)
  }
}
