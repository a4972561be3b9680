internal import Glibc
internal import System

/// Notices, by the kernel's messages, that this machine may have other addresses: rtnetlink(7).
package final class AddressWatch: Sendable {
  private let stopping: WakeUp

  /// How long there must be no message before a change counts, in seconds: a change causes several
  /// messages.
  private static let calm = 0.3

  /// `changed` is called on a separate thread.
  ///
  /// - Throws: an error if the kernel sends no messages, as in some containers.
  package init(changed: @escaping @Sendable () -> Void) throws {
    let stopping = try WakeUp()
    self.stopping = stopping
    let socket = try RouteSocket.open()
    try startThread {
      defer { close(socket) }
      let both = [socket, stopping.descriptor]
      var ready = Poll.wait(for: both)
      while !ready.contains(stopping.descriptor) {
        Self.readAway(socket)
        ready = Poll.wait(for: both, until: Instant.now + Self.calm)
        guard ready.isEmpty else { continue }
        changed()
        ready = Poll.wait(for: both)
      }
    }
  }

  /// Discards the messages: the present addresses are read separately.
  private static func readAway(_ socket: Int32) {
    var buffer = [UInt8](repeating: 0, count: 1 << 13)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count < 0, errno == ENOBUFS { continue }
      guard count > 0 else { return }
    }
  }

  /// Ends the watch.
  package func stop() { stopping.signal() }
}
