// Callers of this module also use addresses.
@_exported public import System

/// Finds devices on the local network, and announces this one.
///
/// Its events are hints, never facts: anyone on the network can announce anything, and a device that
/// disappeared without a goodbye stays listed for a while. TLS proves a peer's identity.
public protocol Discovery: AnyObject, Sendable {
  /// Announces `service` until `withdraw(_:)` or `stop()`.
  /// Throws `DiscoveryError` if the discovery service cannot be reached now. The service is announced as
  /// soon as that is possible, so a long-running program may log the error and continue.
  func publish(_ service: ServiceRecord) throws

  /// Withdraws a service that `publish(_:)` announced; does nothing if there is none.
  func withdraw(_ service: ServiceRecord)

  /// Reports other devices that announce services of this kind, until `stop()`. Throws, and retries, like
  /// `publish(_:)`. Calls the handler on a thread of its own, for one event at a time; the handler must not
  /// block. Never reports services with this device's own ID.
  func browse(_ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) throws

  /// Withdraws all services and ends all searches. After it returns, no handler is called.
  func stop()
}

/// The services that a device announces.
public enum ServiceKind: Hashable, Sendable, CaseIterable {
  /// A notebook that members can synchronise with.
  case notebook
  /// An open invitation to a notebook. It has its own service type, so a joining device can search only for
  /// invitations, and a device can announce and withdraw each of several separately.
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
  /// A device was found, or its addresses changed: the value replaces the former one.
  case found(DiscoveredPeer)
  /// A device has sent its goodbye, or its announcement expired.
  case lost(DiscoveredPeer)
  /// All services known so far were reported; further ones are new.
  case settled
  /// The discovery service stopped. Every peer was reported lost; connecting is retried.
  case interrupted(DiscoveryError)
  /// The discovery service is back; events for its services follow.
  case resumed
}

/// A device that announces a service, with its addresses.
public struct DiscoveredPeer: Hashable, Sendable {
  /// Whether the device serves a notebook or has an open invitation.
  public let kind: ServiceKind
  /// The ID of the notebook, as announced.
  public let notebookID: String
  /// The ID of the device, as announced.
  public let deviceID: String
  /// The first part of the invitation's code; nil for a notebook.
  public let locator: String?
  /// The protocol version that it supports.
  public let protocolVersion: Int
  /// The addresses of the service, the most promising first; never empty.
  public let addresses: [Address]
}
