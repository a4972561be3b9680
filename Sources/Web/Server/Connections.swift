internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The open connections. A further one is always possible: the oldest stranger is closed for it.
final class Connections: Sendable {
  private struct Entry {
    let channel: any Channel
    /// The part of the connection's address that counts as one client.
    let place: String
    var isLetIn = false
    var isFollowing = false
    /// The ID of the notebook that the connection last requested.
    var notebook: String?
    /// The ID of the connection's guest.
    var guestID: String?
  }

  private struct State {
    /// The entries in the order in which they were opened or last used.
    var entries: [(key: ObjectIdentifier, entry: Entry)] = []

    mutating func take(_ key: ObjectIdentifier) -> Entry? {
      entries.firstIndex { $0.key == key }.map { entries.remove(at: $0).entry }
    }

    /// Takes the oldest connection that was not admitted, of the address with the most of them. So a client
    /// that opens many connections does not displace others.
    mutating func takeStranger() -> (any Channel)? {
      var counts: [String: Int] = [:]
      for (_, entry) in entries where !entry.isLetIn { counts[entry.place, default: 0] += 1 }
      let most = counts.values.max()
      return takeFirst { !$0.isLetIn && counts[$0.place] == most }
    }

    /// Removes and returns the first connection for which `isMeant`.
    mutating func takeFirst(where isMeant: (Entry) -> Bool) -> (any Channel)? {
      entries.firstIndex { isMeant($0.entry) }.map { entries.remove(at: $0).entry.channel }
    }
  }

  private let state = Mutex(State())
  private let limits: WebLimits
  /// The functions to call when a page begins to follow a notebook's events, by the notebook's ID.
  private let followed = Mutex<[String: @Sendable () -> Void]>([:])

  init(limits: WebLimits) { self.limits = limits }

  func add(_ channel: any Channel) {
    let crowdedOut = state.withLock { state -> (any Channel)? in
      let isFull = state.entries.count >= limits.connections
      let leaving =
        isFull
        ? state.takeStranger() ?? state.takeFirst { !$0.isFollowing }
          ?? state.takeFirst { _ in true } : nil
      let entry = Entry(channel: channel, place: Self.place(of: channel))
      state.entries.append((ObjectIdentifier(channel), entry))
      return leaving
    }
    crowdedOut?.close(promise: nil)
  }

  /// The part of an address that counts as one client: for IPv6 the network, because a machine can have any
  /// number of addresses in it.
  static func place(of channel: any Channel) -> String {
    let address = channel.remoteAddress?.ipAddress ?? ""
    guard let bytes = PrivateAddress.bytes(ofIPv6: address) else { return address }
    return "\(bytes.prefix(8))"
  }

  func remove(_ channel: any Channel) {
    _ = state.withLock { $0.take(ObjectIdentifier(channel)) }
  }

  /// Records that a request of the connection, the owner's or a guest's, was admitted. The
  /// connection is then the last to be closed.
  func letIn(_ channel: any Channel, to notebook: String?, guestID: String?) {
    state.withLock { state in
      guard var entry = state.take(ObjectIdentifier(channel)) else { return }
      entry.isLetIn = true
      (entry.notebook, entry.guestID) = (notebook, guestID)
      state.entries.append((ObjectIdentifier(channel), entry))
    }
  }

  /// Records that the connection follows the events. If there are too many, the first is closed; if one
  /// guest has too many, that guest's first.
  func follow(_ channel: any Channel) {
    let (crowdedOut, notebook) = state.withLock { state -> ((any Channel)?, String?) in
      var leaving: (any Channel)?
      var notebook: String?
      if var entry = state.take(ObjectIdentifier(channel)) {
        let guestID = entry.guestID
        let followers = state.entries.map(\.entry).filter(\.isFollowing)
        if guestID != nil,
          followers.count(where: { $0.guestID == guestID }) >= limits.guestFollowers
        {
          leaving = state.takeFirst { $0.isFollowing && $0.guestID == guestID }
        } else if followers.count >= limits.followers {
          leaving = state.takeFirst(where: \.isFollowing)
        }
        entry.isFollowing = true
        notebook = entry.notebook
        state.entries.append((ObjectIdentifier(channel), entry))
      }
      return (leaving, notebook)
    }
    if let notebook { followed.withLock { $0[notebook] }?() }
    guard let crowdedOut else { return }
    // The browser must reconnect, but not at once: otherwise it and another would displace each
    // other.
    let later = crowdedOut.allocator.buffer(string: "retry: 60000\n\n")
    crowdedOut.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(later)), promise: nil)
    crowdedOut.close(promise: nil)
  }

  /// Calls `body` whenever a page of the notebook begins to follow the events; nil stops that.
  func whenFollowed(_ notebook: String, _ body: (@Sendable () -> Void)?) {
    followed.withLock { $0[notebook] = body }
  }

  /// Closes the connections of former guests of a notebook.
  func close(guestsExcept ids: Set<String>, of notebook: String) {
    close { entry in
      entry.notebook == notebook && entry.guestID.map { !ids.contains($0) } ?? false
    }
  }

  /// Closes the connections of a notebook that is no longer served.
  func close(allOf notebook: String) {
    close { $0.notebook == notebook }
    whenFollowed(notebook, nil)
  }

  private func close(where isMeant: (Entry) -> Bool) {
    let leaving = state.withLock { state -> [any Channel] in
      var leaving: [any Channel] = []
      while let channel = state.takeFirst(where: isMeant) { leaving.append(channel) }
      return leaving
    }
    for channel in leaving { channel.close(promise: nil) }
  }

  /// The connections that follow the events of a notebook, with or without its guests; if nil, the owner's
  /// connections that show the list of notebooks.
  func followers(of notebook: String?, _ withGuests: Bool) -> [any Channel] {
    state.withLock { state in
      state.entries.map(\.entry).filter {
        $0.isFollowing && $0.notebook == notebook && (withGuests || $0.guestID == nil)
      }.map(\.channel)
    }
  }
}
