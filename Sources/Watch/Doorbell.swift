internal import Sync

/// What makes a thread that polls look up.
final class Doorbell: Sendable {
  private let wakeUp: WakeUp

  /// Becomes readable when it is rung.
  var descriptor: Int32 { wakeUp.descriptor }

  /// Throws when the process has no descriptors left.
  init() throws { wakeUp = try WakeUp() }

  /// From any thread.
  func ring() { wakeUp.signal() }

  /// Forgets all rings until now.
  func silence() { wakeUp.clear() }

  /// Whether a descriptor can be read, or has come to its end.
  static func isReadable(_ descriptor: Int32) -> Bool { Poll.isReadable(descriptor) }

  /// Waits until one of `descriptors` can be read or `moment` has come.
  static func wait(for descriptors: [Int32], until moment: Moment?) {
    Poll.wait(for: descriptors, until: moment ?? .never)
  }
}
