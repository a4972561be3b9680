/// How often something may happen: so often at once, and so often a second in the long run. The clock is the
/// caller's.
public struct TokenBucket: Sendable {
  private let rate: Double
  private let most: Double
  private var left: Double
  private var counted: Instant

  /// A full one.
  public init(aSecond rate: Double, atOnce most: Double, now: Instant = .now) {
    (self.rate, self.most, left, counted) = (rate, most, most, now)
  }

  private func tokens(_ now: Instant) -> Double { min(most, left + rate * (now - counted)) }

  /// Whether the bucket is full again, so that it can be forgotten.
  public var isFull: Bool { tokens(.now) >= most }

  /// When it may happen next, in the long run.
  public func next(_ now: Instant) -> Instant { now + max(0, 1 - tokens(now)) / rate }

  /// Counts that it happens, whether it may or not.
  public mutating func spend(_ now: Instant) {
    left = tokens(now) - 1
    counted = now
  }

  /// Counts that it happens, if it may now; returns whether it may.
  public mutating func take() -> Bool {
    let now = Instant.now
    if tokens(now) < 1 { return false }
    spend(now)
    return true
  }
}
