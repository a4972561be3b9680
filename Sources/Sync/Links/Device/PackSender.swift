internal import Channel
internal import Git

/// The frames of a pack: what it holds, its pieces, and an empty piece as its end.
struct PackSender {
  private let writer: PackWriter
  private let heads: [ObjectID]
  private var state = State.announcement
  /// What is to follow of a piece that is longer than a frame may be: it holds a large object.
  private var rest: ArraySlice<UInt8> = []

  private enum State { case announcement, pieces, done }

  init(_ asked: WantMessage, from repository: Repository) throws {
    let known = try asked.haves.filter {
      try repository.contains($0) && repository.header(of: $0).kind == .commit
    }
    writer = try repository.pack(wants: asked.wants, haves: known)
    heads = asked.wants
  }

  var objects: Int { writer.objectCount }
  var versions: Int { writer.commitCount }
  var objectsSent: Int { writer.objectsWritten }

  mutating func next() throws -> Frame? {
    switch state {
    case .announcement:
      state = .pieces
      return try Frame(
        PackMessage(objects: writer.objectCount, versions: writer.commitCount, heads: heads))
    case .pieces:
      if rest.isEmpty {
        guard let piece = try writer.next() else {
          state = .done
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
