// Callers of this module name addresses, too.
@_exported public import System

/// Finds devices on the local network, and lets them find this one.
///
/// Its events are hints, never facts: anyone on the network can announce anything, and a device that
/// vanished without a goodbye stays listed for a while. TLS decides who a peer is.
public protocol Discovery: AnyObject, Sendable {
  /// Announces `service` until `withdraw(_:)` or `stop()`.
  /// Throws `DiscoveryError` if the discovery service cannot be reached now. The service is announced as
  /// soon as that is possible, so a long-running program may log the error and continue.
  func publish(_ service: ServiceRecord) throws

  /// Withdraws a service that `publish(_:)` announced; does nothing if it announced none.
  func withdraw(_ service: ServiceRecord)

  /// Reports the other devices that announce services of this kind, until `stop()`.
  /// Throws, and retries, as `publish(_:)` does. Events arrive one at a time on a thread of the
  /// implementation's choice; the handler must not block. Services with this device's own ID are never
  /// reported.
  func browse(_ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) throws

  /// Withdraws every service and ends every browsing. No handler is called once it has returned.
  func stop()
}

/// The services that a device announces.
public enum ServiceKind: Hashable, Sendable, CaseIterable {
  /// A notebook that members can synchronise with.
  case notebook
  /// An open invitation to a notebook. It is a service of its own so that a device that joins asks
  /// for invitations alone, and so that one device can hold several open and close each by itself.
  case invitation

  /// The DNS-SD service type.
  public var serviceType: String {
    switch self {
    case .notebook: "_notes-sync._tcp"
    case .invitation: "_notes-pair._tcp"
    }
  }
}

/// The events that a browser reports.
public enum DiscoveryEvent: Hashable, Sendable {
  /// A device was found, or its addresses changed: the value replaces what was told before.
  case found(DiscoveredPeer)
  /// A device that was found has said goodbye, or its announcement ran out.
  case lost(DiscoveredPeer)
  /// All services that are known by now have been reported; those that follow are new.
  case settled
  /// The discovery service went away. Every peer has been reported lost; it is tried again.
  case interrupted(DiscoveryError)
  /// The discovery service is back; what it knows follows.
  case resumed
}

/// A device that announces a service, with the addresses at which it does.
public struct DiscoveredPeer: Hashable, Sendable {
  /// Whether it serves a notebook or holds an invitation open.
  public let kind: ServiceKind
  /// The ID of the notebook, as announced.
  public let notebookID: String
  /// The ID of the device, as announced.
  public let deviceID: String
  /// The first part of the invitation's code; nil for a notebook.
  public let locator: String?
  /// The protocol version it speaks.
  public let protocolVersion: Int
  /// The addresses of the service, the most promising first; never empty.
  public let addresses: [Address]
}
