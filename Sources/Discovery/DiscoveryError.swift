/// Why devices cannot be found, or not be told of this one.
public enum DiscoveryError: Error, Hashable, Sendable {
  /// The Avahi client library is not installed; the value is the loader's message.
  case libraryMissing(String)
  /// There is no D-Bus system bus to reach the Avahi daemon by; the value is Avahi's message.
  case noSystemBus(String)
  /// The Avahi daemon does not run.
  case daemonNotRunning
  /// The Avahi daemon took longer to answer than the deadline allows.
  case daemonSilent
  /// A value cannot be announced; the value says which.
  case invalidRecord(String)
  /// A call of the Avahi library failed otherwise.
  case avahi(call: String, code: Int32, message: String)
  /// `stop()` was called before.
  case stopped
}

extension DiscoveryError: CustomStringConvertible {
  /// What happened, as people are told: lower case, no full stop.
  public var description: String {
    "devices cannot be found: " + reason
  }

  private var reason: String {
    switch self {
    case .libraryMissing(let message): "the Avahi client library is missing (\(message))"
    case .noSystemBus(let message): "cannot reach the D-Bus system bus (\(message))"
    case .daemonNotRunning: "the Avahi daemon is not running"
    case .daemonSilent: "the Avahi daemon does not answer"
    case .invalidRecord(let what): "cannot announce this service: \(what)"
    case .avahi(let call, let code, let message): "\(call): \(message) (\(code))"
    case .stopped: "discovery has been stopped"
    }
  }
}
