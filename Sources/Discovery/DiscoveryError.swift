/// The reasons why devices cannot be found, or cannot find this one.
public enum DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Avahi's library could not be loaded; the value is the loader's message.
  case libraryMissing(String)
  /// The D-Bus system bus cannot be reached; the value is Avahi's message.
  case noSystemBus(String)
  case daemonNotRunning
  case daemonSilent
  case invalidRecord(String)
  case avahi(call: String, code: Int32, message: String)
  case stopped

  /// The message for people: lower case, no full stop.
  public var description: String { "cannot look for devices: " + reason }

  private var reason: String {
    switch self {
    case .libraryMissing(let message): "the Avahi client library is missing (\(message))"
    case .noSystemBus(let message): "cannot reach the D-Bus system bus (\(message))"
    case .daemonNotRunning: "the Avahi daemon is not running"
    case .daemonSilent: "the Avahi daemon does not answer"
    case .invalidRecord(let what): "cannot announce this service: \(what)"
    case .avahi(let call, let code, let message): "\(call): \(message) (\(code))"
    case .stopped: "the search for devices was stopped"
    }
  }
}
