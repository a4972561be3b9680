internal import Synchronization

/// Discovery by the Avahi daemon of this machine.
///
/// The library is loaded, the daemon asked and a thread started by the first `publish` or `browse`;
/// a program that does neither pays nothing. When the daemon goes away, it is tried again until it
/// is back, and the services are announced anew.
public final class AvahiDiscovery: Discovery {
  /// Seconds that a call waits for the daemon when nothing else is said. One that does not answer that
  /// fast is reported as `DiscoveryError.daemonSilent`.
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
  private let handlers = Handlers()

  private final class Handlers: Sendable {
    private let stopped = Mutex(false)
    var areStopped: Bool { stopped.withLock { $0 } }
    func stop() { stopped.withLock { $0 = true } }
  }

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

  /// Announces `service` by the daemon until `withdraw(_:)` or `stop()`.
  ///
  /// - Throws: `DiscoveryError` for a record that cannot be announced, without Avahi's library, or
  ///   while the daemon cannot be reached; in that last case the service is announced once it can.
  public func publish(_ service: ServiceRecord) throws {
    try service.validate()
    try perform { $0.publish(service) }
  }

  /// Has the thread take back what `publish(_:)` announced, without waiting for it.
  public func withdraw(_ service: ServiceRecord) {
    guard case .running(let thread) = state.withLock({ $0 }) else { return }
    // When the thread has ended, so has the announcement.
    try? thread.enqueue { $0.withdraw(service) }
  }

  /// Reports the other devices that announce services of this kind, on the thread that talks to the
  /// daemon.
  ///
  /// - Throws: `DiscoveryError` without Avahi's library, or while the daemon cannot be reached; in
  ///   that last case browsing begins once it can.
  public func browse(
    _ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) throws {
    // The thread may outlive `stop()` by what the daemon makes it wait; the handler does not.
    try perform { [handlers] session in
      session.browse(kind) { event in
        if !handlers.areStopped { onEvent(event) }
      }
    }
  }

  /// Ends the thread, and with it every announcement and browsing; waits for it `patience` seconds
  /// at most. No handler is called once it has returned.
  public func stop() {
    handlers.stop()
    let before = state.withLock { state in
      defer { state = .stopped }
      return state
    }
    if case .running(let thread) = before { thread.quit(waiting: patience) }
  }

  private func perform(
    _ command: @escaping @Sendable (AvahiSession) -> DiscoveryError?
  ) throws(DiscoveryError) {
    let thread = try thread()
    // From within a handler nothing can be waited for: errors then come as events.
    if thread.isCurrent { return try thread.enqueue { _ = command($0) } }
    if let error = try thread.perform(within: patience, command) { throw error }
  }

  private func thread() throws(DiscoveryError) -> AvahiThread {
    try state.withLock { state throws(DiscoveryError) in
      switch state {
      case .running(let thread): return thread
      case .stopped: throw .stopped
      case .idle:
        let thread = try AvahiThread.start(library: try loadLibrary(), deviceID: deviceID)
        state = .running(thread)
        return thread
      }
    }
  }
}
