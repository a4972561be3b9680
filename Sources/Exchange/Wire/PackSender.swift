internal import Channel
package import Git
internal import System

/// The frames of a pack: a description, its pieces, and an empty piece as its end.
package struct PackSender {
  private let writer: PackWriter
  private let heads: [ObjectID]
  /// How many of the pack's commits are versions that people made.
  let versions: Int
  /// The total size of the objects, before compression.
  let contentBytes: Int
  private var state = State.announcement
  /// The rest of a piece that exceeds the limit of a frame: it has a large object.
  private var rest: ArraySlice<UInt8> = []

  private enum State { case announcement, pieces, done }

  /// The frames of a pack with these heads, and `versions` commits by people.
  package init(_ writer: PackWriter, bringing heads: [ObjectID], versions: Int) throws {
    (self.writer, self.heads, self.versions) = (writer, heads, versions)
    contentBytes = try writer.contentBytes()
  }

  var objects: Int { writer.objectCount }
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
