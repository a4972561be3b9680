/// How long to wait before a device is tried again: twice as long each time, up to a limit, and
/// never exactly, so that devices that lost each other do not meet in step.
struct Backoff: Sendable {
  /// The first wait, in seconds.
  static let first = 0.5
  /// The longest wait for a device that is announced, in seconds.
  static let longest = 60.0
  /// The longest wait for one that only was there once, in seconds.
  static let longestUnseen = 300.0

  private(set) var failures = 0

  /// How many seconds to wait after one more failure.
  mutating func next(isSeen: Bool) -> Double {
    let limit = isSeen ? Self.longest : Self.longestUnseen
    var wait = Self.first
    for _ in 0..<min(failures, 16) { wait *= 2 }
    failures += 1
    return min(wait, limit) * Double.random(in: 0.75...1.25)
  }

  /// It worked, or there is news of the device.
  mutating func reset() { failures = 0 }
}
