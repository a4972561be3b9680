internal import CAvahi

/// One search for services of a kind.
final class AvahiBrowser {
  /// What ended the search; the session then starts over.
  private(set) var failure: DiscoveryError?

  private unowned let session: AvahiSession
  private let kind: ServiceKind
  private let onEvent: @Sendable (DiscoveryEvent) -> Void
  private var browser: OpaquePointer?
  private var resolvers: [AvahiInstance: AvahiResolver] = [:]
  private var peers: PeerTable<AvahiInstance>
  private var hasToldAll = false
  private var isSettled = false

  init(
    kind: ServiceKind, deviceID: String, session: AvahiSession,
    onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) {
    self.kind = kind
    self.session = session
    self.onEvent = onEvent
    peers = PeerTable(ownDeviceID: deviceID)
  }

  /// Starts to search unless it does already.
  func start() {
    guard browser == nil, let client = session.client else { return }
    browser = session.library.functions.avahi_service_browser_new(
      client, AvahiLibrary.anyInterface, AvahiLibrary.anyProtocol, kind.serviceType, nil,
      AvahiLookupFlags(0),
      { _, interface, proto, event, name, _, domain, _, browser in
        guard let browser else { return }
        Unmanaged<AvahiBrowser>.fromOpaque(browser).takeUnretainedValue().handle(
          event, AvahiInstance(interface: interface, proto: proto, name: name, domain: domain))
      }, Unmanaged.passUnretained(self).toOpaque())
    if browser == nil { fail("avahi_service_browser_new") }
  }

  /// Gives one event to the handler.
  func tell(_ event: DiscoveryEvent) {
    onEvent(event)
  }

  /// Reports every peer lost, and why.
  func lose(_ error: DiscoveryError) {
    peers.loseAll().forEach(tell)
    tell(.interrupted(error))
  }

  /// Drops what belongs to a client that is about to be freed, and that frees it.
  func forget() {
    browser = nil
    resolvers = [:]
    failure = nil
    hasToldAll = false
    isSettled = false
  }

  private func handle(_ event: AvahiBrowserEvent, _ instance: AvahiInstance) {
    switch event {
    case AVAHI_BROWSER_NEW: resolve(instance)
    case AVAHI_BROWSER_REMOVE:
      resolvers.removeValue(forKey: instance)?.close()
      peers.lose(instance).forEach(tell)
      settle()
    case AVAHI_BROWSER_ALL_FOR_NOW:
      hasToldAll = true
      settle()
    case AVAHI_BROWSER_FAILURE: fail("avahi_service_browser_new")
    default: break
    }
  }

  private func resolve(_ instance: AvahiInstance) {
    guard resolvers[instance] == nil, resolvers.count < PeerTable<AvahiInstance>.maximumInstances
    else { return }
    resolvers[instance] = AvahiResolver(instance, kind: kind, session: session) { [unowned self] in
      if let answer = $0 {
        peers.see(instance, answer.record, at: answer.endpoint).forEach(tell)
      } else {
        peers.lose(instance).forEach(tell)
      }
      settle()
    }
  }

  /// Says once that what the daemon knows has been told: its list and an answer for each entry.
  private func settle() {
    guard !isSettled, hasToldAll, resolvers.values.allSatisfy(\.hasAnswered) else { return }
    isSettled = true
    tell(.settled)
  }

  private func fail(_ call: String) {
    let code = session.client.map { session.library.functions.avahi_client_errno($0) }
    failure = session.library.error(code ?? AvahiLibrary.failure, in: call)
  }
}
