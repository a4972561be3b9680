internal import CAvahi
internal import System

final class AvahiBrowser {
  /// The error that ended the search; nil while it runs. The session then starts over.
  private(set) var failure: DiscoveryError?
  let onEvent: @Sendable (DiscoveryEvent) -> Void

  private unowned let session: AvahiSession
  private let kind: ServiceKind
  private var browser: OpaquePointer?
  private var resolvers: [AvahiInstance: AvahiResolver] = [:]
  private var peers: PeerTable<AvahiInstance>
  private var hasToldAll = false
  private var isSettled = false
  /// The daemon allows 1,024 objects for each client (avahi-daemon.conf(5),
  /// objects-per-client-max).
  private static let maximumResolvers = 256

  init(
    kind: ServiceKind, deviceID: String, session: AvahiSession,
    onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) {
    self.kind = kind
    self.session = session
    self.onEvent = onEvent
    peers = PeerTable(ownDeviceID: deviceID)
  }

  func start() {
    guard browser == nil, let client = session.client else { return }
    browser = session.library.functions.avahi_service_browser_new(
      client, AvahiLibrary.anyInterface, AvahiLibrary.anyProtocol, kind.serviceType, nil,
      AvahiLookupFlags(0),
      { _, interface, proto, event, name, _, domain, _, browser in
        guard let browser else { return }
        let instance = AvahiInstance(
          interface: interface, proto: proto, name: name.map { String(cString: $0) } ?? "",
          domain: domain.map { String(cString: $0) } ?? "")
        Unmanaged<AvahiBrowser>.fromOpaque(browser).takeUnretainedValue().handle(event, instance)
      }, Unmanaged.passUnretained(self).toOpaque())
    if browser == nil { failure = session.lastError(in: "avahi_service_browser_new") }
  }

  func lose(_ error: DiscoveryError) {
    peers.loseAll().forEach(onEvent)
    onEvent(.interrupted(error))
  }

  /// Drops the Avahi objects without freeing them. The caller frees their client next, which also frees them.
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
      peers.lose(instance).forEach(onEvent)
      settle()
    case AVAHI_BROWSER_ALL_FOR_NOW:
      hasToldAll = true
      settle()
    case AVAHI_BROWSER_FAILURE: failure = session.lastError(in: "avahi_service_browser_new")
    default: break
    }
  }

  private func resolve(_ instance: AvahiInstance) {
    if resolvers[instance] != nil { return }
    if resolvers.count >= Self.maximumResolvers {
      // The record of a resolver that has answered is kept, but no longer followed.
      let displaced = resolvers.first { $0.value.hasAnswered } ?? resolvers.first
      if let displaced { resolvers.removeValue(forKey: displaced.key)?.close() }
    }
    resolvers[instance] = AvahiResolver(instance, kind: kind, session: session) { [unowned self] in
      if let answer = $0 {
        peers.see(instance, answer.record, at: answer.address).forEach(onEvent)
      } else {
        peers.lose(instance).forEach(onEvent)
      }
      settle()
    }
  }

  /// Reports once that every service in the daemon's list was resolved.
  private func settle() {
    guard !isSettled, hasToldAll, resolvers.values.allSatisfy(\.hasAnswered) else { return }
    isSettled = true
    onEvent(.settled)
  }
}

/// A service as the browser lists it: one entry for each interface and protocol on which it is
/// seen.
struct AvahiInstance: Hashable {
  let interface: Int32
  let proto: Int32
  let name: String
  let domain: String
}

/// Follows the address, port and TXT record of a service as long as it is listed.
final class AvahiResolver {
  typealias Answer = (record: ServiceRecord, address: Address)

  /// Whether the daemon answered the request, or the request failed.
  private(set) var hasAnswered = false

  private unowned let session: AvahiSession
  private let kind: ServiceKind
  private let onAnswer: (Answer?) -> Void
  private var resolver: OpaquePointer?

  init(
    _ instance: AvahiInstance, kind: ServiceKind, session: AvahiSession,
    onAnswer: @escaping (Answer?) -> Void
  ) {
    self.kind = kind
    self.session = session
    self.onAnswer = onAnswer
    resolver = session.library.functions.avahi_service_resolver_new(
      session.client, instance.interface, instance.proto, instance.name, kind.serviceType,
      instance.domain, instance.proto, AvahiLookupFlags(0),
      { _, interface, _, event, _, _, _, _, address, port, txt, _, resolver in
        guard let resolver else { return }
        Unmanaged<AvahiResolver>.fromOpaque(resolver).takeUnretainedValue().handle(
          event, address, port, interface, txt)
      }, Unmanaged.passUnretained(self).toOpaque())
    // The daemon refuses if it stopped in the meantime; the session then starts over.
    hasAnswered = resolver == nil
  }

  /// Stops following. Freeing the client also stops it, so do not call this afterwards.
  func close() {
    if let resolver { _ = session.library.functions.avahi_service_resolver_free(resolver) }
    resolver = nil
  }

  private func handle(
    _ event: AvahiResolverEvent, _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
    _ interface: Int32, _ txt: AvahiStrings
  ) {
    hasAnswered = true
    guard event == AVAHI_RESOLVER_FOUND, let address, let text = session.library.text(of: address),
      let found = Address(announced: text, port: port, interface: UInt32(clamping: interface)),
      let record = ServiceRecord(
        kind: kind, port: port,
        strings: session.library.strings(of: txt, limit: ServiceRecord.maximumStrings))
    else { return onAnswer(nil) }
    onAnswer((record, found))
  }
}
