internal import Channel
internal import Git
internal import Notebook
internal import System

// want, pack and data: notes-protocol(7), "Exchanging versions".
extension DeviceLink {
  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws {
    fetch = .asked(wanted)
    watch = FetchWatch(stream.timeouts)
    try enqueue(WantMessage(wants: wanted, haves: known))
  }

  func begin(_ pack: PackMessage) throws {
    guard case .asked(let wanted) = fetch else {
      throw SyncError.protocolBroken("a pack that nobody asked for")
    }
    guard Set(wanted).isSubset(of: pack.heads) else {
      throw SyncError.protocolBroken("a pack without what was asked for")
    }
    fetch = .receiving(try notebook.repository.quarantine(limits: limits))
    watch?.note(bytes: 0)
    advance()
    progress.receivedBytes = 0
    progress.receivedContent = 0
    progress.objectsToReceive = pack.objects
    Counter.receivedObjects.add(pack.objects)
    progress.contentToReceive = pack.bytes ?? 0
  }

  func receive(_ piece: [UInt8]) throws {
    guard case .receiving(let quarantine) = fetch else {
      throw SyncError.protocolBroken("a piece of no pack")
    }
    watch?.note(bytes: piece.count)
    advance()
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
    progress.sentContent = 0
    progress.objectsToSend = sender.objects
    progress.contentToSend = sender.contentBytes
    sending = sender
  }
}

/// The frames of a pack: what it holds, its pieces, and an empty piece as its end.
struct PackSender {
  private let writer: PackWriter
  private let heads: [ObjectID]
  /// What the objects hold together, before compression.
  let contentBytes: Int
  private var state = State.announcement
  /// What is to follow of a piece that is longer than a frame may be: it holds a large object.
  private var rest: ArraySlice<UInt8> = []

  private enum State { case announcement, pieces, done }

  init(_ asked: WantMessage, from repository: Repository) throws {
    let known = try asked.haves.filter {
      try repository.contains($0) && repository.header(of: $0).kind == .commit
    }
    writer = try repository.pack(wants: asked.wants, haves: known)
    contentBytes = try writer.contentBytes()
    heads = asked.wants
  }

  var objects: Int { writer.objectCount }
  var versions: Int { writer.commitCount }
  var objectsSent: Int { writer.objectsWritten }
  var contentSent: Int { writer.contentWritten }

  mutating func next() throws -> Frame? {
    switch state {
    case .announcement:
      state = .pieces
      return try Frame(
        PackMessage(
          objects: writer.objectCount, versions: writer.commitCount, bytes: contentBytes,
          heads: heads))
    case .pieces:
      if rest.isEmpty {
        guard let piece = try writer.next() else {
          state = .done
          Counter.sentObjects.add(objects)
          return Frame(type: MessageType.data.rawValue, payload: [])
        }
        rest = piece[...]
      }
      let payload = Array(rest.prefix(ProtocolLimits.dataBytes))
      rest = rest.dropFirst(payload.count)
      return Frame(type: MessageType.data.rawValue, payload: payload)
    case .done: return nil
    }
  }
}
