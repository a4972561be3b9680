public import Channel
internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// A conversation about a notebook with another place that has it: notes-protocol(7), SESSION.
///
///     hello ↔ hello            identities, heads
///     membership ↔ membership  if the digests differ
///     heads →                  the versions that this side shows now; at any time
///          ← want              those that the other side lacks
///     pack, data →
///          ← applied           the versions that the other side shows then
///     bye ↔ bye
///
/// Both directions run in parallel and do not wait for each other. `SessionRules` decides the next
/// step, and a `Link` carries it out. An instance belongs to the session's thread; requests of other
/// threads arrive through its `SessionHandle`.
public final class Session {
  private let link: any Link
  private let replica: Replica
  private let handle: SessionHandle
  private let terms: SessionTerms
  private let notices: [any Notice]
  private var rules: SessionRules
  private var merges: [MergeOutcome] = []
  private var hasNegotiated = false
  private var packsSinceOpening = 0
  private var editing: [TreePath] = []
  private var recordDue: Instant?
  /// When a continuous session ends, so that the next one begins.
  private var renewalDue: Instant?

  private var keeper: any SessionKeeper { replica.keeper }

  /// How long nothing must happen before the peer's versions are recorded, in seconds.
  private static let quiet = 1.0
  /// After how many received packs the repository is opened again, because other programs combine packs in the
  /// meantime.
  private static let packsUntilReopening = 50
  /// By how many seconds a transfer delays the end of a session for the next one.
  private static let renewalDelay = 60.0

  private init(
    _ link: any Link, _ replica: Replica, told own: Shown, _ terms: SessionTerms,
    _ notices: [any Notice], renewedAfter seconds: Double, isOpenedHere: Bool
  ) throws {
    (self.link, self.replica, self.terms, self.notices) = (link, replica, terms, notices)
    renewalDue = terms.exchange.ends ? nil : .now + seconds
    replica.gives = terms.exchange.gives
    replica.received(terms.theirs)
    rules = SessionRules(terms.exchange, own: own, theirs: terms.theirs.heads)
    replica.sent(own.heads)
    handle = SessionHandle(
      peer: replica.peer, isOpenedHere: isOpenedHere, ends: terms.exchange.ends, wake: link.waker)
    if !rules.areAlike { try endorseOwn() }
    replica.introduce()
  }

  /// Runs a session on an authenticated connection, on this thread, until it ends. If this throws, the peer has
  /// received the reason, and packs that were not merged are dropped.
  public static func run(
    on connection: Connection, as context: SessionContext,
    options: SessionOptions = SessionOptions(),
    onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    let stream = MessageStream(connection: connection, timeouts: context.timeouts)
    do {
      let (notebook, peer) = (try context.notebook(), try context.peer(at: connection))
      let judge = VersionJudge(
        context.membership, notebook,
        options.allowsUnsigned ? .all : .from(deviceID: peer.deviceID))
      let replica = Replica(
        notebook, options.keeper ?? DirectKeeper(context, options), with: peer, judge: judge,
        report: onEvent)
      let result = try replica.exchanging { try run(stream, as: context, replica, options) }
      if options.isOpenedHere { context.record(refusal: nil) }
      return result
    } catch {
      if options.isOpenedHere { context.record(refusal: error) }
      // If the link has already closed the stream, this does nothing.
      stream.close(after: error)
      throw error
    }
  }

  private static func run(
    _ stream: MessageStream, as context: SessionContext, _ replica: Replica,
    _ options: SessionOptions
  ) throws -> SessionResult {
    try stream.working {
      try replica.begin(receives: options.mode.receives)
      replica.gives = options.mode.gives
      try replica.endorseOwn(.greeting)
    }
    let greeting = Greeting(stream: stream, context: context, replica: replica, options: options)
    let own = try replica.shown
    let (terms, notices) = try greeting.exchange(showing: own)
    let repository = replica.notebook.repository
    let link = try DeviceLink(
      stream, to: replica.peer, ends: terms.exchange.ends,
      quarantine: {
        try repository.quarantine(limits: options.packLimits, replica.unpackingGrant)
      },
      report: replica.report)
    return try run(
      over: link, replica, told: own, terms, notices, renewedAfter: context.timeouts.renewal,
      isOpenedHere: options.isOpenedHere)
  }

  /// Runs a session over a link on these terms until it ends, and closes the link. Call `begin` of the replica
  /// first.
  package static func run(
    over link: any Link, _ replica: Replica, _ terms: SessionTerms
  ) throws -> SessionResult {
    try replica.exchanging {
      try run(
        over: link, replica, told: replica.shown, terms, [], renewedAfter: .infinity,
        isOpenedHere: true)
    }
  }

  private static func run(
    over link: any Link, _ replica: Replica, told own: Shown, _ terms: SessionTerms,
    _ notices: [any Notice], renewedAfter seconds: Double, isOpenedHere: Bool
  ) throws -> SessionResult {
    do {
      let session = try Session(
        link, replica, told: own, terms, notices, renewedAfter: seconds,
        isOpenedHere: isOpenedHere)
      let result = try session.run()
      link.close(after: nil)
      return result
    } catch {
      link.close(after: error)
      throw error
    }
  }

  /// Ends an authenticated connection without a session, and tells the peer the reason.
  public static func refuse(
    _ connection: Connection, as context: SessionContext, because error: SyncError
  ) {
    MessageStream(connection: connection, timeouts: context.timeouts).close(after: error)
  }

  private func run() throws -> SessionResult {
    try keeper.sessions.begin(handle)
    defer { keeper.sessions.end(handle) }
    do {
      try exchange()
    } catch {
      guard case SyncError.peerEnded(.done, _) = error, terms.exchange.ends, !rules.isAsking else {
        finish()
        throw error
      }
    }
    // Everything that the peer shows has been merged.
    if terms.exchange.ends, terms.exchange.takes, try !replica.isPeerBehind {
      replica.held.forget(replica.peer.deviceID, isThere: false)
    }
    return try replica.result(
      link.traffic, told: rules.own, merges: merges, hasNews: !rules.isConfirmed,
      peerRules: terms.rules)
  }

  /// Records the known state of a peer whose session was interrupted.
  private func finish() { _ = try? replica.remember(peerRules: terms.rules) }

  private func exchange() throws {
    recordDue = .now + Self.quiet
    updateTable()
    try replica.checkForgettings()
    if replica.isMending { try askForMissing() }
    while true {
      try carryOut(handle.takeRequests())
      if try advance() { return }
      let due = [recordDue, handle.lookDue, renewalDue].compactMap { $0 }.min()
      let isPatient = rules.fetch == .leftToOthers
      if let event = try link.next(until: due, isPatient: isPatient) { try process(event) }
      if let due = recordDue, Instant.now >= due {
        recordDue = nil
        updateTable()
        finish()
      }
      if renewalDue?.hasPassed == true {
        if rules.fetch == .none, !link.isGiving { throw SyncError.ended(.done) }
        renewalDue = .now + Self.renewalDelay
      }
    }
  }

  private func advance() throws -> Bool {
    let notebook = replica.notebook
    while true {
      rules.isGiving = link.isGiving
      let isBehind = try replica.isPeerBehind
      let step = try rules.next(
        lacking: { heads in
          try isBehind ? [] : heads.filter { try !notebook.repository.contains($0) }
        },
        isShown: { try isBehind || notebook.history.shows($0) })
      switch step {
      case .fetch(let heads): try fetch(heads)
      case .merge: try merge(nil, replica.theirs.heads)
      case .answer: try reply()
      case .end: return true
      case .wait: return false
      }
    }
  }

  private func fetch(_ heads: [ObjectID]) throws {
    guard keeper.sessions.mayFetch(heads, handle) else {
      return rules.leaveToOthers()
    }
    let known = try hasNegotiated ? rules.own.heads : replica.haves(rules.own.heads)
    hasNegotiated = true
    rules.ask(for: heads)
    try link.send(.want(heads, known: known))
  }

  private func merge(_ quarantine: Quarantine?, _ wanted: [ObjectID]) throws {
    let taken = try replica.accept(quarantine, wanted) { try link.whileBusy(onTick: $0, $1) }
    if quarantine != nil { rules.arrived() }
    keeper.sessions.endFetch(handle)
    switch taken {
    case .overtaken(let heads):
      // The peer announces newer versions before it sends the pack for this request.
      return try quarantine == nil ? fetch(wanted) : rules.settle(heads)
    case .merged(let heads, let outcome):
      rules.settle(heads)
      if let outcome, terms.exchange.ends { merges.append(outcome) }
      try reply()
      if replica.unchecked != nil {
        try link.whileBusy(onTick: {}) { [replica] in try replica.checkMerges() }
      }
    case .refused(let heads, let reason, let words):
      rules.settle(heads)
      try reply(refusal: reason)
      let error = SyncError.notMerged(reason, words)
      if terms.exchange.ends { throw error }
      fail(error)
    }
    updateTable()
    packsSinceOpening += 1
    if packsSinceOpening >= Self.packsUntilReopening { closeCaches() }
  }

  private func reply(refusal: MergeRefusal? = nil) throws {
    let present = try replica.notebook.state()
    let shown = try replica.showing(present.tip, present.heads.sorted())
    try recordSent(shown)
    try link.send(
      .answer(
        shown, heard: rules.reply(), received: replica.received,
        conflicts: present.conflictCount, refusal: refusal))
  }

  private func fail(_ error: SyncError) {
    let peer = replica.peer
    replica.report(.failed(SyncFailure(peer: peer, address: peer.address, error: error)))
  }

  /// Records that this side has told the peer these versions.
  private func recordSent(_ shown: Shown) throws {
    if !shown.forgot.isEmpty, !terms.knowsForgettings { throw SyncError.noCommonVersion([1]) }
    replica.closeIfReplaced()
    rules.sent(shown)
    replica.sent(shown.heads)
  }

  private func send(_ shown: Shown) throws {
    try recordSent(shown)
    try link.send(.shows(shown))
  }

  /// Vouches for this device's tip if no member does: whether it put a version on top. Another program's save
  /// may hold the notebook's lock for longer than the peer waits for a sign of life.
  @discardableResult
  private func endorseOwn(_ occasion: VersionJudge.Occasion = .giving) throws -> Bool {
    try link.whileBusy(onTick: {}) { [replica] in try replica.endorseOwn(occasion) }
  }

  private func closeCaches() {
    guard rules.fetch == .none, !link.isGiving else { return }
    packsSinceOpening = 0
    replica.notebook.repository.close()
  }

  // MARK: Requests from other processes, other threads and the peer

  /// Tells the peer this device's versions, if they have changed: another process may have saved or merged,
  /// even versions that this session fetched. A session that ends checks this each time. A continuous session
  /// checks it when its keeper, which watches the notebook, says so.
  private func tellOwn() throws {
    guard !replica.isMending else { return }
    let shown = try replica.shown
    // If this device makes a version to vouch for its tip, that version is announced at once instead.
    guard shown != rules.own, try !endorseOwn() else { return }
    try send(shown)
    // If the branch has moved back, settled heads may need a merge again.
    if terms.exchange.ends { rules.unsettle() }
  }

  private func carryOut(_ requests: SessionHandle.Requests) throws {
    if let reason = requests.end { throw SyncError.ended(reason) }
    if requests.looks || terms.exchange.ends { try tellOwn() }
    if let paths = requests.editing, paths != editing {
      editing = paths
      try link.send(.notice(Remark(message: EditingMessage(paths))))
    }
    for invitation in requests.invitations {
      let message = InvitationMessage(invitation: invitation.message)
      try link.send(.notice(Remark(message: message)))
    }
    if requests.asksForPing { try link.send(.ping) }
    if requests.closesCaches { closeCaches() }
    if requests.reconsiders { rules.reconsider() }
  }

  private func process(_ event: LinkEvent) throws {
    switch event {
    case .shows(let shown): received(shown, answering: nil)
    case .answered(let shown, let heard, let refusal):
      replica.peerSettled(rules.own.heads, refusal)
      if let refusal {
        // This device now vouches for the tip, so the next session may succeed.
        if refusal == .unsigned { try endorseOwn(.refused) }
        let error = SyncError.notMergedAtPeer(refusal)
        if terms.exchange.ends { throw error }
        fail(error)
      }
      received(shown, answering: heard)
    case .arrived(let quarantine):
      guard case .asked(let wanted) = rules.fetch else { return }
      if replica.isMending { return try takeMissing(quarantine, wanted) }
      try merge(quarantine, wanted)
    case .slow: keeper.sessions.endFetch(handle)
    case .asked(let wanted, let known):
      let replica = replica
      link.give(try link.whileBusy(onTick: {}) { try replica.pack(wanted, known: known) })
    case .notice(let remark):
      for notice in notices { try notice.received(remark.message) }
      guard let message = remark.message as? EditingMessage else { return }
      replica.editing = message.notes
      updateTable()
    }
  }

  // MARK: Objects that are missing here: notes-protocol(7), "Missing objects"

  private func askForMissing() throws {
    let theirs = replica.theirs.heads
    guard terms.exchange.takes, !theirs.isEmpty else { return try endMending() }
    hasNegotiated = true
    rules.ask(for: theirs)
    try link.send(.want(theirs, known: []))
  }

  private func takeMissing(_ quarantine: Quarantine, _ wanted: [ObjectID]) throws {
    _ = try link.whileBusy(onTick: {}) { try quarantine.join(promised: wanted) }
    rules.arrived()
    replica.unmerged.append(quarantine)
    try endMending()
  }

  /// Shows this device's versions, and continues as an ordinary session.
  private func endMending() throws {
    try link.whileBusy(onTick: {}) { [replica] in try replica.endMending() }
    try send(replica.shown)
    rules.unsettle()
  }

  private func received(_ shown: Shown, answering: Int?) {
    replica.received(shown)
    rules.received(shown.heads, answering: answering)
    recordDue = .now + Self.quiet
    updateTable()
  }

  private func updateTable() {
    keeper.sessions.update(replica.peerState(link.traffic), of: handle)
  }
}
