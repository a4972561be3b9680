/// How long to wait before the next attempt to connect to a device: twice as long each time, up to a limit.
/// Random variation keeps devices that lost each other from always trying at the same times.
struct Backoff: Sendable {
  // All in seconds.
  static let first = 0.5
  static let longest = 60.0
  /// The longest pause for a device that was connected once and is not announced.
  static let longestUnseen = 300.0

  private(set) var failures = 0

  mutating func next(isSeen: Bool) -> Double {
    let wait = Self.first * Double(1 << min(failures, 16))
    failures += 1
    return min(wait, isSeen ? Self.longest : Self.longestUnseen) * Double.random(in: 0.75...1.25)
  }

  mutating func reset() { failures = 0 }
}
