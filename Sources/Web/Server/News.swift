internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import Notebook
internal import Watch

/// Tells the browsers that follow what happens when the notebook has another version, and those of this
/// device's user when somebody comes, goes or edits. And of guests who were sent away the connections are
/// closed.
final class News: Sendable {
  private let branchWatch: BranchWatch
  private let guestWatch: FileWatch
  private let presence: Presence

  init(of site: Site, connections: Connections) throws {
    let (notebook, state) = (site.notebookID, try Notebook.open(at: site.folder).stateFolder)
    let sendAway: @Sendable () -> Void = {
      // Where the book cannot be read, nobody is let in by it, and so nobody stays.
      let guests = try? GuestBook(stateFolder: state).guests()
      connections.close(guestsExcept: Set((guests ?? []).map(\.id)), of: notebook)
    }
    let tell: @Sendable (String, Bool) -> Void = { event, isForGuests in
      Self.tell("event: \(event)\ndata:\n\n", connections.followers(of: notebook, isForGuests))
    }
    guestWatch = try FileWatch(GuestBook.fileName, in: state, changed: sendAway)
    branchWatch = try BranchWatch(folder: site.folder) {
      sendAway()
      tell("changed", true)
    }
    let presence = try Presence(
      of: site, isWanted: { !connections.followers(of: notebook, false).isEmpty }
    ) { tell("presence", false) }
    self.presence = presence
    connections.whenFollowed(notebook) { presence.begin() }
    site.invitations.whenChanged { tell("presence", false) }
  }

  func stop() {
    branchWatch.stop()
    guestWatch.stop()
    presence.stop()
  }

  private static func tell(_ event: String, _ channels: [any Channel]) {
    for channel in channels {
      // A browser that reads nothing is not told more than it can be.
      guard channel.isWritable else { continue }
      let bytes = channel.allocator.buffer(string: event)
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
    }
  }
}
