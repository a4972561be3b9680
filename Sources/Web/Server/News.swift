internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import Notebook
internal import State
internal import Synchronization
internal import System
internal import Watch

/// Sends events to the browsers that follow them. All learn when the notebook has another version. Those of
/// this device's user also learn when a device connects or disconnects, or somebody edits. Also closes the
/// connections of removed guests.
final class News: Sendable {
  private let branchWatch: BranchWatch
  private let guestWatch: FileWatch
  private let presence: Presence
  private let hasEnded: Flag

  /// Whether events have stopped, because the notebook's folder became unavailable.
  var isOver: Bool { hasEnded.isSet }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    /// Sets the value; returns whether it was not set before.
    func set() -> Bool { !value.exchange(true, ordering: .relaxed) }
  }

  /// - Parameter looksAgain: called when the notebook's folder becomes unavailable, and when a page then
  ///   follows the events, because the folder may be available again.
  init(
    of site: Site, connections: Connections, looksAgain: @escaping @Sendable () -> Void
  ) throws {
    let (notebook, state) = (site.notebookID, try Notebook.open(at: site.folder).stateFolder)
    let hasEnded = Flag()
    self.hasEnded = hasEnded
    let sendAway: @Sendable () -> Void = {
      guard site.isThere else {
        if hasEnded.set() { looksAgain() }
        return
      }
      // If the book cannot be read, no guest is admitted, so all connections of guests are closed.
      let guests = try? site.presentGuests()
      connections.close(guestsExcept: Set((guests ?? []).map(\.id)), of: notebook)
    }
    let tell: @Sendable (String, Bool) -> Void = { event, isForGuests in
      Self.tell(event, connections.followers(of: notebook, isForGuests))
    }
    guestWatch = try FileWatch(StateFolder.File.guests.rawValue, in: state.path, changed: sendAway)
    branchWatch = try BranchWatch(folder: site.folder) {
      sendAway()
      tell("changed", true)
    }
    let presence = try Presence(
      of: site, isWanted: { !connections.followers(of: notebook, false).isEmpty }
    ) { tell("presence", false) }
    self.presence = presence
    connections.whenFollowed(notebook) {
      presence.begin()
      // This reads files, so it has a thread of its own: no other request must wait for it.
      if hasEnded.isSet { try? startThread { looksAgain() } }
    }
    site.invitations.whenChanged { tell("presence", false) }
    // Only the note's own pages show who reads it.
    site.openNotes.whenChanged { page in
      Self.tell(
        "presence", connections.followers(of: notebook, true),
        about: page.isEditing ? "" : page.note)
    }
  }

  func stop() {
    branchWatch.stop()
    guestWatch.stop()
    presence.stop()
  }

  /// Sends an event to all followers.
  static func tell(_ event: String, _ channels: [any Channel], about data: String = "") {
    let event = "event: \(event)\ndata:\(data)\n\n"
    for channel in channels {
      // Skip a browser that does not read: its buffer is full.
      guard channel.isWritable else { continue }
      let bytes = channel.allocator.buffer(string: event)
      channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
    }
  }
}
