internal import Channel
internal import Git
internal import Synchronization
internal import System

/// The link to a device over TLS: the messages of notes-protocol(7), SESSION, after its greeting.
final class DeviceLink: Link {
  private let stream: MessageStream
  private let peer: PeerIdentity
  private let makeQuarantine: () throws -> Quarantine
  /// Whether the session ends when both sides are done.
  private let ends: Bool
  private let report: (Event) -> Void

  private var queue: [Frame] = []
  /// The events to return, the oldest first; a failure is the last.
  private var events: [LinkEvent] = []
  private var failure: (any Error)?
  /// Whether the peer has requested something, and this side has not begun to send it.
  private var isAsked = false
  private var sending: PackSender?
  private var fetch = Fetch.none
  private var watch: FetchWatch?
  private var sentVersions = 0
  private var progress: TransferProgress
  private var heartbeat: Heartbeat
  /// When a side with nothing to send sends a sign of life. On a slow line, the side that has sent everything
  /// would otherwise receive nothing until the pack has arrived.
  private var nextSign: Instant
  private var isPatient = false
  private let toldQuota = RefusalQuota(
    burst: ProtocolLimits.told, perSecond: ProtocolLimits.toldPerSecond)
  private let call: Call
  /// When `next(until:)` last returned.
  private var left: Instant?
  private var bytesHeard: UInt64 = 0

  private enum Fetch {
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

  /// A link to a peer after the greeting. A received pack goes into the result of `quarantine`.
  init(
    _ stream: MessageStream, to peer: PeerIdentity, ends: Bool,
    quarantine: @escaping () throws -> Quarantine, report: @escaping (Event) -> Void
  ) throws {
    (self.stream, self.peer, self.ends) = (stream, peer, ends)
    (makeQuarantine, self.report) = (quarantine, report)
    progress = TransferProgress(peer: peer)
    heartbeat = Heartbeat(stream.timeouts)
    nextSign = .now + stream.timeouts.working
    call = try Call()
    if ends { heartbeat.endsWhenSilent() }
  }

  var waker: @Sendable () -> Void { { [call] in call.signal() } }
  var isGiving: Bool { sending != nil || isAsked }

  var traffic: Traffic {
    var traffic = Traffic()
    traffic.sentBytes = Int(clamping: stream.connection.bytesSent)
    traffic.receivedBytes = Int(clamping: stream.connection.bytesReceived)
    traffic.sentVersions = sentVersions
    return traffic
  }

  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result {
    try stream.working(onTick: onTick, body)
  }

  func close(after error: (any Error)?) {
    flush()
    if let error { stream.close(after: error) } else { stream.close(.done) }
  }

  private func flush() {
    stream.connection.holdBack()
    // Send the last messages. A peer that has disconnected does not get them.
    for frame in queue { try? stream.send(frame) }
    queue = []
  }

  // MARK: Waiting

  func next(until deadline: Instant?, isPatient: Bool) throws -> LinkEvent? {
    self.isPatient = isPatient
    if let event = takeEvent() { return event }
    if let failure { throw failure }
    // Time spent outside this call does not count as the peer's silence.
    if let left { heartbeat.excuse(Instant.now - left) }
    defer { left = .now }
    do {
      try stream.exchange(
        patience: { patience(until: deadline) }, wakeup: call.wakeup,
        produce: { try self.nextFrame() }, consume: { try self.handle($0, $1) })
      try lookAtTime()
    } catch {
      // Throw only when no earlier event is left to return.
      if events.isEmpty { throw error }
      failure = error
    }
    return takeEvent()
  }

  private func takeEvent() -> LinkEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// How many seconds to wait for input. A part of a frame is also a sign of life: on a slow line, a piece of a
  /// pack takes long.
  private func patience(until deadline: Instant?) -> Double {
    if !events.isEmpty || call.isWaiting.load(ordering: .sequentiallyConsistent) { return 0 }
    let bytes = stream.connection.bytesReceived
    if bytes != bytesHeard { heartbeat.beat() }
    bytesHeard = bytes
    let sign = isPatient ? nextSign : nil
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

  // MARK: Output

  func send(_ message: LinkMessage) throws {
    switch message {
    case .want(let wanted, let known):
      fetch = .asked(wanted)
      watch = FetchWatch(stream.timeouts)
      try enqueue(WantMessage(wants: wanted, haves: known))
    case .shows(let shown):
      // Heads that were not sent yet are outdated; in a session that ends, each message counts.
      if !ends { queue.removeAll { $0.type == MessageType.heads.rawValue } }
      try enqueue(HeadsMessage(shown))
    case .answer(let shown, let heard, let received, let conflicts, let refusal):
      try enqueue(
        AppliedMessage(
          tip: shown.tip, heads: shown.heads, heard: heard, received: received,
          conflicts: conflicts, refused: refusal?.rawValue,
          forgot: shown.forgot.isEmpty ? nil : shown.forgot))
    case .ping:
      if stream.connection.isHomeless {
        throw SyncError.interrupted("this machine has another address now")
      }
      heartbeat.ask()
      try enqueue(PingMessage())
    case .notice(let remark):
      let type = Swift.type(of: remark.message).type
      if type.isLatestOnly { queue.removeAll { $0.type == type.rawValue } }
      try enqueue(remark.message)
    }
  }

  private func enqueue(_ message: any Message) throws { queue.append(try Frame(message)) }

  func give(_ pack: PackSender) {
    sentVersions += pack.versions
    progress.sentObjects = 0
    progress.sentContent = 0
    progress.objectsToSend = pack.objects
    progress.contentToSend = pack.contentBytes
    (sending, isAsked) = (pack, false)
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
    guard isReceiving || isPatient, nextSign.hasPassed else { return nil }
    nextSign = .now + stream.timeouts.working
    // During the transfer, the other side sends only answers.
    return try isReceiving ? Frame(WorkingMessage()) : Frame(PingMessage())
  }

  // MARK: Input

  private func handle(_ frame: Frame, _ type: MessageType?) throws {
    heartbeat.beat()
    if [.heads, .applied].contains(type) || type?.isNotice == true {
      // Each message may cause a line in a log. Unread messages stay with the sender.
      if toldQuota.take() == nil {
        _ = BlockingQueue<Bool>().take(until: .now + 1 / ProtocolLimits.toldPerSecond)
      }
    }
    switch type {
    case nil, .pong: break
    case .working:
      watch?.peerIsWorking()
      if case .none = fetch, sending == nil {
        report(.progress(TransferProgress(peer: peer, stage: .waiting)))
      }
    // One answer covers all requests since the last one, so a peer that does not read gets no further answers.
    case .ping: if queue.last?.type != MessageType.pong.rawValue { try enqueue(PongMessage()) }
    case .heads:
      let message = try frame.decode(HeadsMessage.self)
      events.append(.shows(Shown(tip: message.tip, heads: message.heads, forgot: message.forgot)))
    case .applied:
      let message = try frame.decode(AppliedMessage.self)
      events.append(
        .answered(
          Shown(tip: message.tip, heads: message.heads, forgot: message.forgot),
          heard: message.heard,
          refusal: message.refused.flatMap(MergeRefusal.init)))
    case .want:
      let message = try frame.decode(WantMessage.self)
      guard !isGiving, !message.wants.isEmpty else {
        throw SyncError.protocolBroken("it asks before it has what it asked for")
      }
      isAsked = true
      events.append(.asked(message.wants, known: message.haves))
    case .pack: try begin(frame.decode(PackMessage.self))
    case .data: try receive(frame.payload)
    case let other?:
      guard other.isNotice, let kind = other.message else {
        throw SyncError.protocolBroken("a message of type \(frame.type) within a session")
      }
      events.append(.notice(Remark(message: try frame.decode(kind))))
    }
  }

  private func begin(_ pack: PackMessage) throws {
    guard case .asked(let wanted) = fetch else {
      throw SyncError.protocolBroken("a pack that nobody asked for")
    }
    guard Set(wanted).isSubset(of: pack.heads) else {
      throw SyncError.protocolBroken("a pack without what was asked for")
    }
    fetch = .receiving(try makeQuarantine())
    watch?.arrived(bytes: 0)
    heartbeat.advance()
    progress.receivedBytes = 0
    progress.receivedContent = 0
    progress.objectsToReceive = pack.objects
    Counter.receivedObjects.add(pack.objects)
    progress.contentToReceive = pack.bytes ?? 0
  }

  private func receive(_ piece: [UInt8]) throws {
    guard case .receiving(let quarantine) = fetch else {
      throw SyncError.protocolBroken("a piece of no pack")
    }
    watch?.arrived(bytes: piece.count)
    heartbeat.advance()
    if piece.isEmpty {
      fetch = .none
      watch = nil
      return events.append(.arrived(quarantine))
    }
    try quarantine.append(piece)
    progress.receivedBytes += piece.count
    progress.receivedContent = quarantine.contentBytes
    report(.progress(progress))
  }
}
