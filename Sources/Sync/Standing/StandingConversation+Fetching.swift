internal import Channel
internal import Git
internal import Notebook

// What a side that stands takes from its peer, and gives to it.
extension StandingConversation {
  /// Asks for what the peer shows and this side lacks, or joins it where it is here already.
  func consider() throws {
    guard takes, case .none = fetch else { return }
    let heads = theirs.heads
    guard heads != refusal?.heads, Set(heads) != Set(own.heads) else { return }
    let repository = notebook.repository
    let wants = try Negotiation.wants(of: heads, in: repository)
    if wants.isEmpty {
      if try !isKnown(heads) { try apply(nil, wants: []) }
      return
    }
    guard keeper.mayFetch(wants, link) else {
      fetch = .leftToOthers
      return
    }
    let haves: [ObjectID]
    if hasNegotiated {
      haves = own.heads
    } else {
      haves = try Negotiation.haves(heads: own.heads, peer: link.peer.deviceID, in: repository)
      hasNegotiated = true
    }
    fetch = .asked(wants)
    watch = FetchWatch(stream.timeouts)
    try queue.append(Frame(WantMessage(wants: wants, haves: haves)))
  }

  /// Whether this device shows these heads, or something made on top of them.
  private func isKnown(_ heads: [ObjectID]) throws -> Bool {
    let repository = notebook.repository
    guard let tip = try repository.head().commit else { return false }
    return try heads.allSatisfy { try repository.isAncestor($0, of: tip) }
  }

  /// The peer sends what was asked for.
  func begin(_ pack: PackMessage) throws {
    guard case .asked(let wants) = fetch else {
      throw SyncError.protocolBroken("a pack that nobody asked for")
    }
    guard Set(wants).isSubset(of: pack.heads) else {
      throw SyncError.protocolBroken("a pack without what was asked for")
    }
    fetch = .receiving(try notebook.repository.quarantine(), wants)
    watch?.note(bytes: 0)
  }

  /// The next piece of the pack; an empty one is its end.
  func receive(_ piece: [UInt8]) throws {
    guard case .receiving(let quarantine, let wants) = fetch else {
      throw SyncError.protocolBroken("a piece of no pack")
    }
    watch?.note(bytes: piece.count)
    if !piece.isEmpty { return try quarantine.append(piece) }
    watch = nil
    try apply(quarantine, wants: wants)
  }

  /// Stores what came and has it joined, saying meanwhile that we are alive.
  private func apply(_ quarantine: Quarantine?, wants: [ObjectID]) throws {
    // What the peer shows by now may need another pack.
    let repository = notebook.repository
    let shown = theirs.heads
    let keeper = keeper
    let peer = link.peer
    let (received, result) = try stream.working { () -> (Int, Result<JoinResult, SyncError>) in
      let received = try quarantine?.join(promised: wants) ?? 0
      let here = try shown.allSatisfy { try repository.contains($0) } ? shown : wants
      do {
        return (received, .success(try keeper.join(here, from: peer)))
      } catch NotebookError.massDeletion(let deleted, let total) {
        return (received, .failure(.massDeletion(deleted: deleted, of: total)))
      }
    }
    fetch = .none
    keeper.endFetch(link)
    outcome.receivedVersions += received
    switch result {
    case .success(let joined):
      // Another session may have brought the same.
      if received > 0 || joined.tip != joined.former { report(.received(from: peer, joined)) }
      try answer()
    case .failure(let error):
      refusal = (shown, error)
      report(.failed(SyncFailure(peer, error)))
      try answer(refused: AppliedMessage.massDeletion)
    }
    tellKeeper()
    letGo()
    try consider()
  }

  /// Packs are merged into others while the session stands: now and then it looks anew which there
  /// are.
  private func letGo() {
    exchanges += 1
    guard exchanges >= Self.lettingGoInterval, case .none = fetch, sending == nil else { return }
    exchanges = 0
    notebook.repository.close()
  }

  /// Sends what the peer asked for.
  func give(_ asked: WantMessage) throws {
    guard gives else { throw SyncError.protocolBroken("it asks for what it may not have") }
    guard sending == nil, !asked.wants.isEmpty else {
      throw SyncError.protocolBroken("it asks before it has what it asked for")
    }
    let repository = notebook.repository
    let tip = try repository.head().commit
    for want in asked.wants where !offered.contains(want) {
      guard let tip, try repository.contains(want), try repository.isAncestor(want, of: tip) else {
        throw SyncError.protocolBroken("it asks for what was not offered")
      }
    }
    letGo()
    let sender = try stream.working { try PackSender(asked, from: repository) }
    outcome.sentVersions += sender.versions
    sending = sender
  }
}
