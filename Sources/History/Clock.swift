internal import System

/// The wall clock for the dates of versions; tests use their own.
public struct Clock: Sendable {
  /// Seconds since 1970-01-01 00:00 UTC, and the local zone's minutes east of UTC at that time.
  public var now: @Sendable () -> (seconds: Int64, offset: Int)

  /// The local zone's minutes east of UTC at another time.
  public var offset: @Sendable (Int64) -> Int

  /// A clock that shows the result of `now`, in a zone with the same offset all year.
  public init(now: @escaping @Sendable () -> (seconds: Int64, offset: Int)) {
    self.now = now
    offset = { _ in now().offset }
  }

  /// The system's clock and zone.
  public static let system: Clock = {
    var clock = Clock {
      let seconds = WallClock.now()
      return (seconds, WallClock.offset(at: seconds))
    }
    clock.offset = { WallClock.offset(at: $0) }
    return clock
  }()
}
