internal import Glibc
internal import Sync

/// A pipe to oneself: what makes a thread that polls look up.
final class Doorbell: Sendable {
  let descriptor: Int32
  private let writeEnd: Int32

  /// Throws when the process has no descriptors left.
  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw WatchError.system(call: "pipe", path: "", errno: errno) }
    (descriptor, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// From any thread. A full pipe has been rung already.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Forgets all rings until now.
  func silence() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }

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
