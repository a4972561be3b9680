internal import Channel
internal import Git
internal import Notebook

/// A session that stands: notes-protocol(7), "Standing sessions".
///
///     heads →              what this side shows now; at any time
///          ← want          what of it the peer lacks
///     pack →               ┐
///     data →               ┘
///          ← applied       what the peer shows then
///
/// Both directions run at once and do not wait for each other. An instance belongs to the session's
/// thread; what other threads want of it comes through its `SessionLink`.
final class StandingConversation {
  let stream: MessageStream
  let notebook: Notebook
  let keeper: any SessionKeeper
  let link: SessionLink
  let takes: Bool
  let gives: Bool
  let report: (Event) -> Void
  private let rememberPeer: (StandingConversation) throws -> Void
  private let keepInvitation: (HelloInvitation) throws -> Void

  /// What this side has told the peer that it shows, and what the peer has told.
  var own: Conversation.Standing
  var theirs: Conversation.Standing
  var outcome = Conversation.Outcome()
  /// What is to be sent next.
  var queue: [Frame] = []
  var sending: PackSender?
  var fetch = Fetch.none
  /// Whether what was asked for is coming.
  var watch: FetchWatch?
  /// Heads that the guard against mass deletion refused here.
  var refusal: (heads: [ObjectID], error: SyncError)?
  /// Heads told lately: what the peer may ask for without a look into history.
  var offered: [ObjectID]
  /// Whether commits that a peer may know were looked up for this session.
  var hasNegotiated = false
  /// How many packs were received and sent since the repository was opened.
  var exchanges = 0
  private var editing: [TreePath] = []
  private var pulse: Pulse
  private let tidings = RefusalQuota(
    burst: ProtocolLimits.tidings, perSecond: ProtocolLimits.tidingsPerSecond)
  private var bytesHeard: UInt64 = 0
  private var signs: SignsOfLife
  /// When to note what the peer has, once it is quiet.
  private var rememberDue: Moment?

  /// How far the fetching of something is.
  enum Fetch {
    case none
    /// Another session fetches it.
    case leftToOthers
    case asked([ObjectID])
    case receiving(Quarantine, [ObjectID])
  }

  /// How long nothing must happen before what the peer has is written down, in seconds.
  private static let quiet = 1.0
  /// After how many packs the repository is opened anew.
  static let lettingGoInterval = 50

  init(
    _ conversation: Conversation, _ keeper: any SessionKeeper, _ link: SessionLink,
    _ report: @escaping (Event) -> Void
  ) {
    stream = conversation.stream
    notebook = conversation.notebook
    self.keeper = keeper
    self.link = link
    takes = conversation.takes
    gives = conversation.gives
    self.report = report
    own = conversation.own
    theirs = conversation.theirs
    offered = conversation.own.heads
    pulse = Pulse(timeouts: conversation.stream.timeouts)
    signs = SignsOfLife(every: conversation.stream.timeouts.working)
    keepInvitation = conversation.keep
    rememberPeer = { standing in
      var conversation = conversation
      conversation.own = standing.own
      conversation.theirs = standing.theirs
      try conversation.rememberPeer()
      _ = try conversation.compareTips(report)
    }
  }

  /// Holds the session; it ends by an error only.
  ///
  /// - Throws: `SessionEnd` when it was ended from here, `SyncError.peerEnded` when the peer did,
  ///   and what goes wrong.
  func run() throws -> Never {
    try keeper.begin(link)
    defer {
      keeper.endFetch(link)
      // Whoever is told that it is over may look where the peer was.
      try? rememberPeer(self)
      keeper.end(link)
    }
    rememberDue = .now + Self.quiet
    tellKeeper()
    try consider()
    while true {
      try stream.stand(
        patience: { patience() }, wakeup: link.wakeup,
        produce: { try self.next() }, consume: { try self.take($0, $1) })
      try look()
    }
  }

  /// How many seconds to wait for something to come. A part of a frame is a sign of life, too: on a
  /// slow line a piece of a pack takes long.
  private func patience() -> Double {
    let bytes = stream.connection.bytesReceived
    if bytes != bytesHeard { pulse.beat() }
    bytesHeard = bytes
    return pulse.wait(until: [rememberDue, watch?.due].compactMap { $0 }.min())
  }

  /// What is due when nothing has come for a while.
  private func look() throws {
    if let due = rememberDue, Moment.now >= due {
      rememberDue = nil
      tellKeeper()
      try rememberPeer(self)
    }
    switch watch?.look() {
    case .coming, nil: break
    case .slow: keeper.endFetch(link)
    case .lost: throw SyncError.timedOut("nothing of a pack that was asked for")
    }
    switch pulse.look() {
    case .alive: break
    case .asks: try queue.append(Frame(PingMessage()))
    case .dead: throw SyncError.timedOut("no sign of life")
    }
  }

  // MARK: Out

  /// The next frame to send, if any.
  private func next() throws -> Frame? {
    try obey(link.takeRequests())
    if !queue.isEmpty { return queue.removeFirst() }
    if let frame = try sending?.next() { return frame }
    sending = nil
    if case .receiving = fetch { return try signs.next() }
    return nil
  }

  private func obey(_ requests: SessionLink.Requests) throws {
    if let reason = requests.end { throw SessionEnd(reason: reason) }
    if let state = requests.state { try announce(Conversation.Standing(state)) }
    if let paths = requests.editing, paths != editing {
      editing = paths
      let listed = paths.prefix(ProtocolLimits.editedNotes).map { Base64($0.bytes) }
      queue.removeAll { $0.type == MessageType.editing.rawValue }
      try queue.append(Frame(EditingMessage(paths: Array(listed))))
    }
    for invitation in requests.invitations {
      try queue.append(Frame(InvitationMessage(invitation: invitation.message)))
    }
    if requests.asksForPing {
      if stream.connection.isHomeless {
        throw SyncError.interrupted("this machine has another address now")
      }
      pulse.ask()
      try queue.append(Frame(PingMessage()))
    }
    if requests.rests, case .none = fetch, sending == nil { notebook.repository.close() }
    if requests.reconsiders {
      if case .leftToOthers = fetch { fetch = .none }
      try consider()
    }
  }

  private func announce(_ standing: Conversation.Standing) throws {
    if own == standing { return }
    own = standing
    offered = Array((offered + standing.heads).suffix(ProtocolLimits.heads))
    // What was not sent yet is out of date.
    queue.removeAll { $0.type == MessageType.heads.rawValue }
    try queue.append(Frame(HeadsMessage(tip: standing.tip, heads: standing.heads)))
  }

  /// Says what came of what the peer sent.
  func answer(refused: String? = nil) throws {
    let state = try notebook.state()
    own = Conversation.Standing(state)
    offered = Array((offered + own.heads).suffix(ProtocolLimits.heads))
    try queue.append(
      Frame(
        AppliedMessage(
          tip: own.tip, heads: own.heads, received: outcome.receivedVersions,
          conflicts: state.conflictCount, refused: refused)))
  }

  // MARK: In

  private func take(_ frame: Frame, _ type: MessageType?) throws {
    pulse.beat()
    switch type {
    case .heads, .applied, .editing, .invitation:
      // Each may be a line in a log. What is not read is the sender's to keep.
      if tidings.take() == nil {
        _ = Mailbox<Bool>().take(until: .now + 1 / ProtocolLimits.tidingsPerSecond)
      }
    default: break
    }
    switch type {
    case nil, .pong: break
    case .working: watch?.noteWorking()
    // One answers for all that were asked since: whoever does not read gets no more.
    case .ping:
      if queue.last?.type != MessageType.pong.rawValue { try queue.append(Frame(PongMessage())) }
    case .heads:
      let message = try frame.decode(HeadsMessage.self)
      try learn(Conversation.Standing(tip: message.tip, heads: message.heads))
    case .applied:
      let message = try frame.decode(AppliedMessage.self)
      if message.refused == AppliedMessage.massDeletion {
        report(.failed(SyncFailure(link.peer, SyncError.massDeletionAtPeer)))
      }
      isRefusedThere = message.refused != nil
      try learn(Conversation.Standing(tip: message.tip, heads: message.heads))
    case .editing:
      let message = try frame.decode(EditingMessage.self)
      peerEdits = message.paths.map { TreePath(bytes: $0.bytes) }
      tellKeeper()
    case .invitation:
      try keepInvitation(frame.decode(InvitationMessage.self).invitation)
    case .want: try give(frame.decode(WantMessage.self))
    case .pack: try begin(frame.decode(PackMessage.self))
    case .data: try receive(frame.payload)
    case .hello, .membership, .bye, .offer, .accept, .decline, .certificate, .installed:
      throw SyncError.protocolBroken("a message of type \(frame.type) on a session that stands")
    }
  }

  private var peerEdits: [TreePath] = []
  private var isRefusedThere = false

  private func learn(_ standing: Conversation.Standing) throws {
    theirs = standing
    rememberDue = .now + Self.quiet
    tellKeeper()
    try consider()
  }

  func tellKeeper() {
    var standing = PeerStanding()
    standing.tip = theirs.tip
    standing.heads = theirs.heads
    standing.editing = peerEdits
    standing.sentVersions = outcome.sentVersions
    standing.receivedVersions = outcome.receivedVersions
    standing.sentBytes = Int(clamping: stream.connection.bytesSent)
    standing.receivedBytes = Int(clamping: stream.connection.bytesReceived)
    standing.sentVersions = outcome.sentVersions
    standing.receivedVersions = outcome.receivedVersions
    standing.refusal = refusal?.heads == theirs.heads ? .here : isRefusedThere ? .there : nil
    keeper.note(standing, of: link)
  }
}

/// A session that stands was ended from here.
struct SessionEnd: Error {
  let reason: ByeReason
}
