internal import Glibc
internal import Sync
internal import System

/// Tells the service manager how the service is: sd_notify(3), by a plain datagram.
struct ServiceState {
  private let socketPath: String?
  /// How often the manager wants to hear that the service is alive, in seconds.
  let watchdog: Double?
  private var told = Instant.now

  /// What the environment says: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  init() {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    socketPath = value("NOTIFY_SOCKET")
    let isMeant = value("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    let limit = value("WATCHDOG_USEC").flatMap { Double($0) }
    // Twice as often as it must be.
    watchdog = isMeant && socketPath != nil ? limit.map { $0 / 2_000_000 } : nil
  }

  /// When the manager wants to hear of the service again.
  var next: Instant? { watchdog.map { told + $0 } }

  func ready() { send("READY=1") }
  func stopping() { send("STOPPING=1") }

  /// Says that the service is alive, if it is time.
  mutating func live() {
    guard let next, Instant.now >= next else { return }
    send("WATCHDOG=1")
    told = .now
  }

  /// Nobody waits for an answer, and a manager that is not there is no error.
  private func send(_ text: String) {
    guard let socketPath, !socketPath.isEmpty else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(socketPath.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // An abstract name begins with a NUL.
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let message = Array(text.utf8)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
