internal import System

/// The wall clock that versions are stamped with; tests bring their own.
public struct Clock: Sendable {
  /// Seconds since 1970-01-01 00:00 UTC, and the local zone's minutes east of UTC at that time.
  public var now: @Sendable () -> (seconds: Int64, offset: Int)

  /// The local zone's minutes east of UTC at another time.
  public var offset: @Sendable (Int64) -> Int

  /// A clock that shows what `now` returns, in a zone that is the same all year.
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
