internal import Channel
internal import Git
internal import Notebook

// want, pack and data: notes-protocol(7), "Exchanging versions".
extension DeviceLink {
  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws {
    fetch = .asked(wanted)
    watch = FetchWatch(stream.timeouts)
    try queue.append(Frame(WantMessage(wants: wanted, haves: known)))
  }

  /// The peer sends what was asked for.
  func begin(_ pack: PackMessage) throws {
    guard case .asked(let wanted) = fetch else {
      throw SyncError.protocolBroken("a pack that nobody asked for")
    }
    guard Set(wanted).isSubset(of: pack.heads) else {
      throw SyncError.protocolBroken("a pack without what was asked for")
    }
    fetch = .receiving(try notebook.repository.quarantine())
    watch?.note(bytes: 0)
    advance()
    progress.receivedBytes = 0
    progress.objectsToReceive = pack.objects
  }

  /// The next piece of the pack; an empty one is its end.
  func receive(_ piece: [UInt8]) throws {
    guard case .receiving(let quarantine) = fetch else {
      throw SyncError.protocolBroken("a piece of no pack")
    }
    watch?.note(bytes: piece.count)
    advance()
    if piece.isEmpty {
      fetch = .none
      watch = nil
      return happened(.arrived(quarantine))
    }
    try quarantine.append(piece)
    progress.receivedBytes += piece.count
    report(progress)
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
    let sender = try stream.working { try PackSender(asked, from: repository) }
    sentVersions += sender.versions
    progress.sentObjects = 0
    progress.objectsToSend = sender.objects
    sending = sender
  }
}
