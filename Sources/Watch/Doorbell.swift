internal import Channel
internal import Glibc
internal import Sync

/// What makes a thread that polls look up.
final class Doorbell: Sendable {
  private let pipe: SelfPipe

  /// Becomes readable when it is rung.
  var descriptor: Int32 { pipe.readEnd }

  /// Throws when the process has no descriptors left.
  init() throws { pipe = try SelfPipe() }

  /// From any thread.
  func ring() { pipe.signal() }

  /// Forgets all rings until now.
  func silence() { pipe.drain() }

  /// Whether a descriptor can be read, or has come to its end.
  static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// Waits until one of `descriptors` can be read or `moment` has come.
  static func wait(for descriptors: [Int32], until moment: Moment?) {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var milliseconds: Int32 = -1
    if let moment {
      // Rounded up: waking a moment early would mean to wake again.
      let left = ((moment.seconds - Moment.now.seconds) * 1_000).rounded(.up)
      milliseconds = Int32(min(max(left, 0), 86_400_000))
    }
    _ = poll(&entries, nfds_t(entries.count), milliseconds)
  }
}
