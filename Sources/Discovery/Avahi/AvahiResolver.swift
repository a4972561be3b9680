internal import CAvahi

/// A service as the browser names it: one for each interface and protocol that it is seen on.
struct AvahiInstance: Hashable {
  let interface: Int32
  let proto: Int32
  let name: String
  let domain: String

  init(
    interface: Int32, proto: Int32, name: UnsafePointer<CChar>?, domain: UnsafePointer<CChar>?
  ) {
    self.interface = interface
    self.proto = proto
    self.name = name.map { String(cString: $0) } ?? ""
    self.domain = domain.map { String(cString: $0) } ?? ""
  }
}

/// Follows the address, port and TXT record of one service for as long as it is listed.
final class AvahiResolver {
  typealias Answer = (record: ServiceRecord, endpoint: Endpoint)

  /// Whether it has had an answer, if only that there is none.
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
    // The daemon refuses when it went away meanwhile; the session then starts over.
    hasAnswered = resolver == nil
  }

  /// Stops following; not to be called when the client has been freed, which ends it too.
  func close() {
    if let resolver { _ = session.library.functions.avahi_service_resolver_free(resolver) }
    resolver = nil
  }

  private func handle(
    _ event: AvahiResolverEvent, _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
    _ interface: Int32, _ txt: AvahiStrings
  ) {
    hasAnswered = true
    guard event == AVAHI_RESOLVER_FOUND, let address,
      let text = session.library.text(of: address),
      let endpoint = Endpoint(
        address: text, port: port, interface: UInt32(clamping: interface)),
      let record = ServiceRecord(
        kind: kind, port: port,
        strings: session.library.strings(of: txt, limit: ServiceRecord.maximumStrings))
    else { return onAnswer(nil) }
    onAnswer((record, endpoint))
  }
}
