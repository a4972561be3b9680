/// A limit for the rate of events: some may happen at once, and in the long run so many a second. The caller passes the
/// time.
public struct TokenBucket: Sendable {
  private let rate: Double
  private let most: Double
  private var left: Double
  private var counted: Instant

  /// A full bucket.
  public init(aSecond rate: Double, atOnce most: Double, now: Instant = .now) {
    (self.rate, self.most, left, counted) = (rate, most, most, now)
  }

  private func tokens(_ now: Instant) -> Double { min(most, left + rate * (now - counted)) }

  /// Whether the bucket is full again, so that it can be forgotten.
  public var isFull: Bool { tokens(.now) >= most }

  /// When the next event is allowed in the long run.
  public func next(_ now: Instant) -> Instant { now + max(0, 1 - tokens(now)) / rate }

  /// Counts an event, whether it is allowed or not.
  public mutating func spend(_ now: Instant) {
    left = tokens(now) - 1
    counted = now
  }

  /// Counts an event if it is allowed now; returns whether it is.
  public mutating func take() -> Bool {
    let now = Instant.now
    if tokens(now) < 1 { return false }
    spend(now)
    return true
  }
}
