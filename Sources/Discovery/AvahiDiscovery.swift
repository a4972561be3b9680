internal import Synchronization
internal import System

/// Discovery by the Avahi daemon of this machine.
///
/// The library is loaded, the daemon asked and a thread started by the first `publish` or `browse`;
/// a program that calls neither pays nothing. If the daemon stops, the connection is retried until it is
/// back, and the services are announced again.
public final class AvahiDiscovery: Discovery {
  /// The seconds that a call waits for the daemon by default. A slower daemon is reported as
  /// `DiscoveryError.daemonSilent`.
  public static let defaultPatience = 5.0

  private enum State {
    case idle
    case running(AvahiThread)
    case stopped
  }

  private let deviceID: String
  private let patience: Double
  private let loadLibrary: @Sendable () throws(DiscoveryError) -> AvahiLibrary
  private let state = Mutex(State.idle)

  /// Discovery for the device of this ID, whose own services it does not report.
  public convenience init(deviceID: String, patience: Double = defaultPatience) {
    self.init(deviceID: deviceID, patience: patience) { () throws(DiscoveryError) in
      try AvahiLibrary.load()
    }
  }

  init(
    deviceID: String, patience: Double = defaultPatience,
    loadLibrary: @escaping @Sendable () throws(DiscoveryError) -> AvahiLibrary
  ) {
    self.deviceID = deviceID
    self.patience = patience
    self.loadLibrary = loadLibrary
  }

  deinit {
    if case .running(let thread) = state.withLock({ $0 }) { thread.quit(waiting: 0) }
  }

  /// Throws for a record that cannot be announced, too, and without Avahi's library; in these cases
  /// the wish is not kept.
  public func publish(_ service: ServiceRecord) throws {
    try service.validate()
    try perform { session, _ in session.publish(service) }
  }

  /// Does not wait until it is done.
  public func withdraw(_ service: ServiceRecord) {
    guard case .running(let thread) = state.withLock({ $0 }) else { return }
    // When the thread has ended, so has the announcement.
    try? thread.enqueue { $0.withdraw(service) }
  }

  /// Events come on the thread that talks to the daemon. Throws without Avahi's library, too; in that
  /// case the wish is not kept.
  public func browse(
    _ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) throws {
    // The thread may outlive `stop()` by what the daemon makes it wait; the handler does not.
    try perform { session, thread in
      session.browse(kind) { if !thread.hasQuit { onEvent($0) } }
    }
  }

  /// The version that the daemon gives, such as "avahi 0.8".
  public func daemonVersion() throws -> String {
    let version = BlockingQueue<String>()
    try perform { session, _ in session.ask { version.put($0) } }
    return version.take(until: .now + patience) ?? ""
  }

  /// Waits for the end of the thread `patience` seconds at most.
  public func stop() {
    let before = state.withLock { state in
      defer { state = .stopped }
      return state
    }
    if case .running(let thread) = before { thread.quit(waiting: patience) }
  }

  private func perform(
    _ command: @escaping @Sendable (AvahiSession, AvahiThread) -> DiscoveryError?
  ) throws(DiscoveryError) {
    let thread = try thread()
    // From within a handler nothing can be waited for: errors then come as events.
    if thread.isCurrent { return try thread.enqueue { _ = command($0, thread) } }
    try thread.perform(within: patience) { command($0, thread) }
  }

  private func thread() throws(DiscoveryError) -> AvahiThread {
    try state.withLock { state throws(DiscoveryError) in
      switch state {
      case .running(let thread): return thread
      case .stopped: throw .stopped
      case .idle:
        let thread = try AvahiThread(library: try loadLibrary(), deviceID: deviceID)
        state = .running(thread)
        return thread
      }
    }
  }
}
