internal import Synchronization
internal import System

/// Finds and announces devices by this machine's Avahi daemon.
///
/// The first `publish` or `browse` loads the library, connects to the daemon and starts a thread, so a program
/// that calls neither has no cost. If the daemon stops, this retries to connect, and then announces the
/// services again.
public final class AvahiDiscovery: Discovery {
  /// How many seconds a call waits for the daemon by default. A slower daemon is reported as
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

  /// Discovery for the device with this ID, whose own services are not reported.
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

  /// Throws also if the record cannot be announced, or if Avahi's library is missing. In both cases the service will
  /// not be announced later.
  public func publish(_ service: ServiceRecord) throws {
    try service.validate()
    try perform { session, _ in session.publish(service) }
  }

  /// Does not wait for the result.
  public func withdraw(_ service: ServiceRecord) {
    guard case .running(let thread) = state.withLock({ $0 }) else { return }
    // If the thread has ended, so has the announcement.
    try? thread.enqueue { $0.withdraw(service) }
  }

  /// Calls `onEvent` on the thread that uses the daemon. Also throws if Avahi's library is missing; then the search
  /// does not start later.
  public func browse(
    _ kind: ServiceKind, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) throws {
    // The thread may continue after `stop()` while it waits for the daemon; the handler is no
    // longer called.
    try perform { session, thread in
      session.browse(kind) { if !thread.hasQuit { onEvent($0) } }
    }
  }

  /// The daemon's version, such as "avahi 0.8".
  public func daemonVersion() throws -> String {
    let version = BlockingQueue<String>()
    try perform { session, _ in session.ask { version.put($0) } }
    return version.take(until: .now + patience) ?? ""
  }

  /// Waits at most `patience` seconds for the end of the thread.
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
    // A handler cannot wait for this thread: errors then arrive as events.
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
