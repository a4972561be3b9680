internal import Channel
internal import Git
internal import Notebook

// want, pack and applied: notes-protocol(7).
extension Conversation {
  /// One round: asks, sends and receives packs at once, joins, compares.
  ///
  /// - Returns: whether either side refused to join.
  mutating func exchangeVersions(_ onEvent: (Event) -> Void) throws -> Bool {
    let repository = notebook.repository
    let wants = takes ? try Negotiation.wants(of: theirs.heads, in: repository) : []
    let haves = try Negotiation.haves(heads: own.heads, peer: peer.deviceID, in: repository)
    try stream.send(WantMessage(wants: wants, haves: haves))
    let asked = try stream.receive(WantMessage.self)
    guard asked.wants.isEmpty || gives else {
      throw SyncError.protocolBroken("it asks for what it may not have")
    }
    guard Set(asked.wants).isSubset(of: own.heads) else {
      throw SyncError.protocolBroken("it asks for what was not offered")
    }
    let quarantine = try exchangePacks(asked: asked, wants: wants, onEvent)
    let refusal = try apply(quarantine, wants: wants, onEvent)
    let waiting = TransferProgress(peer: peer, stage: .waiting)
    own = try notebook.standing()
    try stream.send(
      AppliedMessage(
        tip: own.tip, heads: own.heads, received: outcome.receivedVersions,
        conflicts: try notebook.state().conflictCount,
        refused: refusal == nil ? nil : AppliedMessage.massDeletion))
    let applied = try stream.receive(AppliedMessage.self) { onEvent(.progress(waiting)) }
    theirs = Standing(tip: applied.tip, heads: applied.heads)
    if let refusal { throw refusal }
    if applied.refused == AppliedMessage.massDeletion { throw SyncError.massDeletionAtPeer }
    return applied.refused != nil
  }

  /// Sends the pack that was asked for and receives the one we asked for.
  ///
  /// - Returns: what came, still apart from the repository; nil when nothing was asked for.
  private mutating func exchangePacks(
    asked: WantMessage, wants: [ObjectID], _ onEvent: (Event) -> Void
  ) throws -> Quarantine? {
    let repository = notebook.repository
    var sender =
      asked.wants.isEmpty ? nil : try stream.working { try PackSender(asked, from: repository) }
    outcome.sentVersions += sender?.versions ?? 0
    var progress = TransferProgress(peer: peer)
    progress.objectsToSend = sender?.objects ?? 0
    var signs = SignsOfLife(every: stream.timeouts.working)
    func produce() throws -> Frame? {
      guard let frame = try sender?.next() else { return wants.isEmpty ? nil : try signs.next() }
      progress.sentObjects = sender?.objectsSent ?? 0
      onEvent(.progress(progress))
      return frame
    }
    guard !wants.isEmpty else {
      while let frame = try produce() { try stream.send(frame) }
      return nil
    }
    let quarantine = try repository.quarantine()
    var announced = false
    try stream.exchange(produce: produce) { frame, type in
      switch type {
      case .pack where !announced:
        let pack = try frame.decode(PackMessage.self)
        guard Set(wants).isSubset(of: pack.heads) else {
          throw SyncError.protocolBroken("a pack without what was asked for")
        }
        progress.objectsToReceive = pack.objects
        announced = true
        return false
      case .data where announced:
        if frame.payload.isEmpty { return true }
        try quarantine.append(frame.payload)
        progress.receivedBytes += frame.payload.count
        onEvent(.progress(progress))
        return false
      default: throw SyncError.protocolBroken("a message of type \(type) within a pack")
      }
    }
    return quarantine
  }

  /// Stores what came, joins the peer's heads and brings the folder there, saying meanwhile that we
  /// are alive.
  ///
  /// - Returns: why the join was refused, if it was.
  private mutating func apply(
    _ quarantine: Quarantine?, wants: [ObjectID], _ onEvent: (Event) -> Void
  ) throws -> SyncError? {
    let heads = takes ? theirs.heads : []
    if heads.isEmpty || Set(heads).isSubset(of: own.heads) { return nil }
    let notebook = notebook
    let join = JoinOptions(allowsMassDeletion: options.allowsMassDeletion)
    let progress = TransferProgress(
      peer: peer, stage: .joining, objectsToReceive: quarantine?.objectCount ?? 0)
    onEvent(.progress(progress))
    let (received, result) = try stream.working(onWorking: { onEvent(.progress(progress)) }) {
      () -> (Int, Result<JoinResult, SyncError>) in
      let received = try quarantine?.join(promised: wants) ?? 0
      do {
        return (received, .success(try notebook.join(heads, options: join)))
      } catch NotebookError.massDeletion(let deleted, let total) {
        return (received, .failure(.massDeletion(deleted: deleted, of: total)))
      }
    }
    outcome.receivedVersions += received
    switch result {
    case .failure(let refusal): return refusal
    case .success(let joined):
      outcome.joins.append(joined)
      onEvent(.received(from: peer, joined))
      return nil
    }
  }
}
