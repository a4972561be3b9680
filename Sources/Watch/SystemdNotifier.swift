internal import Glibc
internal import System

/// Reports the service's state to the service manager: sd_notify(3), by a plain datagram.
struct SystemdNotifier {
  private let socketPath: String?
  /// How often the manager needs a sign of life, in seconds.
  let watchdog: Double?
  private var told = Instant.now

  /// The variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  init() {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    socketPath = value("NOTIFY_SOCKET")
    let isMeant = value("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    let limit = value("WATCHDOG_USEC").flatMap { Double($0) }
    // Twice as often as required.
    watchdog = isMeant && socketPath != nil ? limit.map { $0 / 2_000_000 } : nil
  }

  var next: Instant? { watchdog.map { told + $0 } }

  func ready() { send("READY=1") }
  func stopping() { send("STOPPING=1") }

  /// Sends a sign of life, if it is due.
  mutating func live() {
    guard let next, Instant.now >= next else { return }
    send("WATCHDOG=1")
    told = .now
  }

  /// Sends a text to the manager. No answer is expected, and a missing manager is not an error.
  private func send(_ text: String) {
    guard let socketPath, !socketPath.isEmpty else { return }
    let descriptor = UnixSocket.make(SOCK_DGRAM)
    guard descriptor >= 0 else { return }
    UnixSocket.send(Array(text.utf8), on: descriptor, to: socketPath)
    close(descriptor)
  }
}
