internal import Git
internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import Notebook
internal import System
internal import Watch

/// Tells the browsers that follow what happens when the notebook has another version: its branch moved.
/// Whoever moved it, a watcher, a command or git, it is noticed the same way. And so is a guest who was
/// sent away: that browser's connections are closed.
final class News: Sendable {
  private let watch: FileWatch
  private let guestWatch: FileWatch

  init(folder: String, connections: Connections) throws {
    let notebook = try Notebook.open(at: folder)
    let reference = try notebook.repository.head().reference
    let path = "\(notebook.repository.gitFolder)/\(reference)"
    // The last part of its name is a file's, which another takes the place of each time.
    let name = reference.split(separator: "/").last.map(String.init) ?? reference
    let state = notebook.stateFolder
    let sendAway: @Sendable () -> Void = {
      // Where the book cannot be read, nobody is let in by it, and so nobody stays.
      let guests = try? GuestBook(stateFolder: state).guests()
      connections.close(guestsExcept: Set((guests ?? []).map(\.id)))
    }
    guestWatch = try FileWatch(GuestBook.fileName, in: state, changed: sendAway)
    watch = try FileWatch(name, in: FileSystem<SystemCallError>.parent(of: path)) {
      sendAway()
      Self.tell("event: changed\ndata:\n\n", connections)
    }
  }

  func stop() {
    watch.stop()
    guestWatch.stop()
  }

  private static func tell(_ event: String, _ connections: Connections) {
    for channel in connections.followers {
      // A browser that reads nothing is not told more than it can be.
      guard channel.isWritable else { continue }
      let bytes = channel.allocator.buffer(string: event)
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
    }
  }
}
