internal import Sync
internal import System

/// Tells when nothing has happened for a while, once each time. A value of the service's own thread.
struct IdleTimer {
  /// How long nothing must happen before, in seconds.
  static let quiet = 10.0

  /// When it is time; nil when it was.
  private(set) var next: Instant? = .now + quiet

  /// Something happened.
  mutating func restart() { next = .now + Self.quiet }

  /// Whether it is time.
  mutating func isDue() -> Bool {
    guard let due = next, due.hasPassed else { return false }
    next = nil
    return true
  }
}
