internal import Glibc

/// The wall clock that versions are stamped with; tests bring their own.
public struct Clock: Sendable {
  /// Seconds since 1970-01-01 00:00 UTC, and the local zone's minutes east of UTC at that time.
  public var now: @Sendable () -> (seconds: Int64, offset: Int)

  public init(now: @escaping @Sendable () -> (seconds: Int64, offset: Int)) { self.now = now }

  /// The system's clock and zone.
  public static let system = Clock {
    var seconds = time(nil)
    var local = tm()
    localtime_r(&seconds, &local)
    return (Int64(seconds), local.tm_gmtoff / 60)
  }
}
