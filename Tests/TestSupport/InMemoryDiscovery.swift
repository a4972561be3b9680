public import Discovery
internal import Synchronization

/// A network within the process, for tests of what uses `Discovery`. It keeps the promises of the
/// real one and can be cut.
public final class InMemoryNetwork: Sendable {
  private struct Browser {
    let kind: ServiceKind
    let owner: String
    let session: ObjectIdentifier
    let onEvent: @Sendable (DiscoveryEvent) -> Void
    var peers: PeerTable<Announcement>
  }

  private struct Announcement: Hashable {
    let session: ObjectIdentifier
    let record: ServiceRecord
  }

  private struct State {
    var isReachable = true
    var announcements: Set<Announcement> = []
    var browsers: [Browser] = []
    var pending: [(session: ObjectIdentifier, tell: @Sendable () -> Void)] = []
    var isTelling = false
  }

  private let state = Mutex(State())

  /// A network without services.
  public init() {}

  /// Whether the discovery service answers. When it does not, publishing and browsing throw, and
  /// those who browse are told that they were interrupted.
  public var isReachable: Bool {
    get { state.withLock { $0.isReachable } }
    set {
      change { state in
        guard state.isReachable != newValue else { return }
        state.isReachable = newValue
        for index in state.browsers.indices {
          if newValue {
            Self.tell(&state, index, [.resumed])
            Self.catchUp(&state, index)
          } else {
            let lost = state.browsers[index].peers.loseAll()
            Self.tell(&state, index, lost + [.interrupted(.daemonNotRunning)])
          }
        }
      }
    }
  }

  fileprivate func publish(_ record: ServiceRecord, by session: ObjectIdentifier) throws {
    try change { state in
      let announcement = Announcement(session: session, record: record)
      guard state.announcements.insert(announcement).inserted || !state.isReachable else { return }
      guard state.isReachable else { throw DiscoveryError.daemonNotRunning }
      for index in state.browsers.indices { Self.show(&state, index, announcement) }
    }
  }

  fileprivate func withdraw(
    by session: ObjectIdentifier, where isWithdrawn: (ServiceRecord) -> Bool
  ) {
    change { state in
      for announcement in state.announcements
      where announcement.session == session && isWithdrawn(announcement.record) {
        state.announcements.remove(announcement)
        for index in state.browsers.indices {
          Self.tell(&state, index, state.browsers[index].peers.lose(announcement))
        }
      }
    }
  }

  fileprivate func browse(
    _ kind: ServiceKind, owner: String, by session: ObjectIdentifier,
    onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) throws {
    try change { state in
      state.browsers.append(
        Browser(
          kind: kind, owner: owner, session: session, onEvent: onEvent,
          peers: PeerTable(ownDeviceID: owner)))
      guard state.isReachable else { throw DiscoveryError.daemonNotRunning }
      Self.catchUp(&state, state.browsers.count - 1)
    }
  }

  fileprivate func stopBrowsing(_ session: ObjectIdentifier) {
    state.withLock { state in
      state.browsers.removeAll { $0.session == session }
      state.pending.removeAll { $0.session == session }
    }
  }

  /// Changes the state, then tells what that brought about, one event at a time and in order.
  private func change(_ body: (inout State) throws -> Void) rethrows {
    defer { tellPending() }
    try state.withLock { try body(&$0) }
  }

  private func tellPending() {
    while let next = nextToTell() {
      next()
      state.withLock { $0.isTelling = false }
    }
  }

  private func nextToTell() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.isTelling, !state.pending.isEmpty else { return nil }
      state.isTelling = true
      return state.pending.removeFirst().tell
    }
  }

  private static func catchUp(_ state: inout State, _ index: Int) {
    for announcement in state.announcements { show(&state, index, announcement) }
    tell(&state, index, [.settled])
  }

  private static func show(_ state: inout State, _ index: Int, _ announcement: Announcement) {
    let record = announcement.record
    guard state.browsers[index].kind == record.kind else { return }
    let address = Address(host: "127.0.0.1", port: record.port)
    tell(&state, index, state.browsers[index].peers.see(announcement, record, at: address))
  }

  private static func tell(_ state: inout State, _ index: Int, _ events: [DiscoveryEvent]) {
    let (session, onEvent) = (state.browsers[index].session, state.browsers[index].onEvent)
    state.pending += events.map { event in (session, { onEvent(event) }) }
  }
}

/// A device's discovery on an `InMemoryNetwork`. Services are found at 127.0.0.1.
public final class InMemoryDiscovery: Discovery {
  private let deviceID: String
  private let network: InMemoryNetwork
  private let isStopped = Mutex(false)

  /// Discovery for the device of this ID on `network`.
  public init(deviceID: String, network: InMemoryNetwork) {
    self.deviceID = deviceID
    self.network = network
  }

  deinit { stop() }

  public func publish(_ service: ServiceRecord) throws {
    try service.validate()
    guard !isStopped.withLock({ $0 }) else { throw DiscoveryError.stopped }
    try network.publish(service, by: ObjectIdentifier(self))
  }

  public func withdraw(_ service: ServiceRecord) {
    network.withdraw(by: ObjectIdentifier(self)) { $0 == service }
  }

  public func browse(
    _ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) throws {
    guard !isStopped.withLock({ $0 }) else { throw DiscoveryError.stopped }
    try network.browse(
      kind, owner: deviceID, by: ObjectIdentifier(self), onEvent: onEvent)
  }

  public func stop() {
    isStopped.withLock { $0 = true }
    network.stopBrowsing(ObjectIdentifier(self))
    network.withdraw(by: ObjectIdentifier(self)) { _ in true }
  }
}
