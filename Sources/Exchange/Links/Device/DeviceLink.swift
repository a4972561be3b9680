internal import Channel
internal import Git
internal import Notebook
internal import Synchronization
internal import System

/// The link to a device behind TLS: the messages of notes-protocol(7), SESSION.
final class DeviceLink: Link {
  let stream: MessageStream
  let context: SessionContext
  let notebook: Notebook
  let report: (Event) -> Void
  var peer: PeerIdentity

  var queue: [Frame] = []
  /// What has happened and was not told yet; a failure comes last.
  var events: [LinkEvent] = []
  private var failure: (any Error)?
  var sending: PackSender?
  var fetch = Fetch.none
  var watch: FetchWatch?
  /// Heads told lately: what the peer may ask for without a look into history.
  var offered: [ObjectID] = []
  var gives = false
  var limits = PackLimits.standard
  private var ends = false
  var sentVersions = 0
  var progress: TransferProgress
  var isWaitingForOthers = false
  private var heartbeat: Heartbeat
  /// When a side that has nothing to send says that it is alive: on a slow line the other side, which
  /// has sent all, hears nothing else until the pack has arrived.
  private var nextSign: Instant
  private let toldQuota = RefusalQuota(
    burst: ProtocolLimits.told, perSecond: ProtocolLimits.toldPerSecond)
  private let call: Call
  /// When `next(until:)` returned last.
  private var left: Instant?
  private var bytesHeard: UInt64 = 0

  enum Fetch {
    case none
    case asked([ObjectID])
    case receiving(Quarantine)
  }

  private final class Call: Sendable {
    let wakeup: WakeUp
    let isWaiting = Atomic(false)

    init() throws { wakeup = try WakeUp() }

    func signal() {
      isWaiting.store(true, ordering: .sequentiallyConsistent)
      wakeup.signal()
    }
  }

  /// - Throws: `SyncError.protocolBroken` when it is not a member's connection, `MembershipError` when
  ///   the peer is no member.
  init(
    _ stream: MessageStream, as context: SessionContext, _ notebook: Notebook,
    report: @escaping (Event) -> Void
  ) throws {
    peer = try context.peer(at: stream.connection)
    self.stream = stream
    self.context = context
    self.notebook = notebook
    self.report = report
    progress = TransferProgress(peer: peer)
    heartbeat = Heartbeat(stream.timeouts)
    nextSign = .now + stream.timeouts.working
    call = try Call()
  }

  var waker: @Sendable () -> Void { { [call] in call.signal() } }
  var isGiving: Bool { sending != nil }

  var traffic: Traffic {
    var traffic = Traffic()
    traffic.sentBytes = Int(clamping: stream.connection.bytesSent)
    traffic.receivedBytes = Int(clamping: stream.connection.bytesReceived)
    traffic.sentVersions = sentVersions
    return traffic
  }

  func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms {
    let terms = try greet(showing: own, options)
    progress = TransferProgress(peer: peer)
    offered = own.heads
    gives = terms.exchange.gives
    ends = terms.exchange.ends
    if options.allowsLarge { limits = .large }
    if ends { heartbeat.endsWhenSilent() }
    return terms
  }

  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result {
    try stream.working(onTick: onTick, body)
  }

  func close(_ reason: ByeReason) {
    flush()
    stream.close(reason)
  }

  func close(after error: any Error) {
    flush()
    stream.close(after: error)
  }

  private func flush() {
    stream.connection.holdBack()
    for frame in queue { try? stream.send(frame) }
    queue = []
  }

  // MARK: Waiting

  func next(until deadline: Instant?) throws -> LinkEvent? {
    if let event = takeEvent() { return event }
    if let failure { throw failure }
    // While nobody looked, nobody was silent.
    if let left { heartbeat.excuse(Instant.now - left) }
    defer { left = .now }
    do {
      try stream.exchange(
        patience: { patience(until: deadline) }, wakeup: call.wakeup,
        produce: { try self.nextFrame() }, consume: { try self.take($0, $1) })
      try lookAtTime()
    } catch {
      // What came before is told first.
      if events.isEmpty { throw error }
      failure = error
    }
    return takeEvent()
  }

  private func takeEvent() -> LinkEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// How many seconds to wait for something to come. A part of a frame is a sign of life, too: on a
  /// slow line a piece of a pack takes long.
  private func patience(until deadline: Instant?) -> Double {
    if !events.isEmpty || call.isWaiting.load(ordering: .sequentiallyConsistent) { return 0 }
    let bytes = stream.connection.bytesReceived
    if bytes != bytesHeard { heartbeat.beat() }
    bytesHeard = bytes
    let sign = isWaitingForOthers ? nextSign : nil
    return heartbeat.wait(until: [deadline, watch?.due, sign].compactMap { $0 }.min())
  }

  private func lookAtTime() throws {
    call.isWaiting.store(false, ordering: .sequentiallyConsistent)
    switch watch?.look() {
    case .coming, nil: break
    case .slow: events.append(.slow)
    case .lost: throw SyncError.timedOut("nothing of a pack that was asked for")
    }
    switch heartbeat.look() {
    case .alive: break
    case .asks: try enqueue(PingMessage())
    case .dead: throw SyncError.timedOut("no sign of life")
    }
  }

  // MARK: Out

  func show(_ shown: Shown) throws {
    offer(shown.heads)
    // What was not sent yet is out of date; where a session ends, each time counts.
    if !ends { queue.removeAll { $0.type == MessageType.heads.rawValue } }
    try enqueue(HeadsMessage(tip: shown.tip, heads: shown.heads))
  }

  func answer(_ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?)
    throws
  {
    offer(shown.heads)
    try enqueue(
      AppliedMessage(
        tip: shown.tip, heads: shown.heads, heard: heard, received: received,
        conflicts: conflicts, refused: refusal?.rawValue))
  }

  func enqueue(_ message: some Message) throws { queue.append(try Frame(message)) }

  private func offer(_ heads: [ObjectID]) {
    offered = Array((offered + heads).suffix(ProtocolLimits.heads))
  }

  func tell(_ remark: LinkRemark) throws {
    switch remark {
    case .editing(let paths):
      queue.removeAll { $0.type == MessageType.editing.rawValue }
      let listed = paths.prefix(ProtocolLimits.editedNotes)
      try enqueue(EditingMessage(paths: listed.map { Base64($0.bytes) }))
    case .invitation(let invitation): try enqueue(InvitationMessage(invitation: invitation.message))
    case .ping:
      if stream.connection.isHomeless {
        throw SyncError.interrupted("this machine has another address now")
      }
      heartbeat.ask()
      try enqueue(PingMessage())
    }
  }

  private func nextFrame() throws -> Frame? {
    if !queue.isEmpty { return queue.removeFirst() }
    if let frame = try sending?.next() {
      heartbeat.advance()
      progress.sentObjects = sending?.objectsSent ?? 0
      progress.sentContent = sending?.contentSent ?? 0
      report(.progress(progress))
      return frame
    }
    sending = nil
    var isReceiving: Bool { if case .receiving = fetch { true } else { false } }
    guard isReceiving || isWaitingForOthers, nextSign.hasPassed else { return nil }
    nextSign = .now + stream.timeouts.working
    // The other side has nothing to say meanwhile, unless it is asked.
    return try isReceiving ? Frame(WorkingMessage()) : Frame(PingMessage())
  }

  // MARK: In

  private func take(_ frame: Frame, _ type: MessageType?) throws {
    heartbeat.beat()
    switch type {
    case .heads, .applied, .editing, .invitation:
      // Each may be a line in a log. What is not read is the sender's to keep.
      if toldQuota.take() == nil {
        _ = BlockingQueue<Bool>().take(until: .now + 1 / ProtocolLimits.toldPerSecond)
      }
    default: break
    }
    switch type {
    case nil, .pong: break
    case .working:
      watch?.noteWorking()
      if case .none = fetch, sending == nil {
        report(.progress(TransferProgress(peer: peer, stage: .waiting)))
      }
    // One answers for all that were asked since: whoever does not read gets no more.
    case .ping: if queue.last?.type != MessageType.pong.rawValue { try enqueue(PongMessage()) }
    case .heads:
      let message = try frame.decode(HeadsMessage.self)
      events.append(.shows(Shown(tip: message.tip, heads: message.heads)))
    case .applied:
      let message = try frame.decode(AppliedMessage.self)
      events.append(
        .answered(
          Shown(tip: message.tip, heads: message.heads), heard: message.heard,
          refusal: message.refused.flatMap(MergeRefusal.init)))
    case .editing:
      let message = try frame.decode(EditingMessage.self)
      events.append(.editing(message.paths.map { TreePath(bytes: $0.bytes) }))
    case .invitation: try keep(frame.decode(InvitationMessage.self).invitation)
    case .want: try give(frame.decode(WantMessage.self))
    case .pack: try begin(frame.decode(PackMessage.self))
    case .data: try receive(frame.payload)
    case .hello, .membership, .bye, .offer, .accept, .decline, .certificate, .installed:
      throw SyncError.protocolBroken("a message of type \(frame.type) within a session")
    }
  }

  func advance() { heartbeat.advance() }
}
