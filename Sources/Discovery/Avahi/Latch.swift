internal import System

/// A gate that is opened once and that threads wait at.
///
/// Sendable although the compiler cannot tell: the flag is only touched with the lock held.
final class Latch: @unchecked Sendable {
  private let condition = Condition()
  private var isOpen = false

  /// Lets everybody through, now and later.
  func open() {
    condition.locked {
      isOpen = true
      condition.broadcast()
    }
  }

  /// Waits until it is open; false when that took longer than `seconds`.
  func wait(seconds: Double) -> Bool {
    condition.locked { condition.wait(until: MonotonicClock.seconds + seconds) { isOpen } }
  }
}
