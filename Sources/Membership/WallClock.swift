internal import Glibc

/// The time of day.
public enum WallClock {
  /// Seconds since 1970, by this device's clock.
  public static func now() -> Int64 { Int64(time(nil)) }
}
