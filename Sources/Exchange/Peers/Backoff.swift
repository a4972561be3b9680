/// How long to wait before a device is tried again: twice as long each time, up to a limit, and
/// never exactly, so that devices that lost each other do not meet in step.
struct Backoff: Sendable {
  // All in seconds.
  static let first = 0.5
  static let longest = 60.0
  /// For a device that only was there once.
  static let longestUnseen = 300.0

  private(set) var failures = 0

  mutating func next(isSeen: Bool) -> Double {
    let wait = Self.first * Double(1 << min(failures, 16))
    failures += 1
    return min(wait, isSeen ? Self.longest : Self.longestUnseen) * Double.random(in: 0.75...1.25)
  }

  mutating func reset() { failures = 0 }
}
