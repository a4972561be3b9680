public import Glibc

/// A point on the monotonic clock (clock_gettime(2), CLOCK_MONOTONIC), which never jumps.
public struct Instant: Hashable, Comparable, Sendable {
  /// Seconds since some point of the past.
  public let seconds: Double

  /// The point so many seconds after that.
  public init(seconds: Double) { self.seconds = seconds }

  /// A point that never comes.
  public static let never = Instant(seconds: .infinity)

  /// The present.
  public static var now: Instant { Instant(seconds: Instant.seconds(on: CLOCK_MONOTONIC)) }

  public static func < (left: Instant, right: Instant) -> Bool { left.seconds < right.seconds }

  /// So many seconds later.
  public static func + (instant: Instant, seconds: Double) -> Instant {
    Instant(seconds: instant.seconds + seconds)
  }

  /// The seconds from `right` to `left`.
  public static func - (left: Instant, right: Instant) -> Double { left.seconds - right.seconds }

  /// So many seconds from now; none for what is below 0.
  public static func after(seconds: Double) -> Instant { .now + max(seconds, 0) }

  /// Whether it is over.
  public var hasPassed: Bool { self <= .now }

  /// Seconds until it comes, at least 0.
  public var secondsLeft: Double { max(self - .now, 0) }

  /// Milliseconds until it comes, as poll(2) takes them: rounded up, and -1 for ever.
  public var pollTimeout: Int32 {
    self == .never ? -1 : Int32(min((secondsLeft * 1_000).rounded(.up), 86_400_000))
  }

  /// As pthread_cond_timedwait(3) takes it.
  var timespec: Glibc.timespec {
    let seconds = min(seconds, 1e15)
    let whole = seconds.rounded(.down)
    return Glibc.timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
  }

  /// How many seconds the machine has slept since it was started.
  public static var secondsAsleep: Double {
    seconds(on: CLOCK_BOOTTIME) - seconds(on: CLOCK_MONOTONIC)
  }

  private static func seconds(on clock: clockid_t) -> Double {
    let time = Glibc.timespec(now: clock)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// The time of day by this device's clock, which may be wrong and may jump.
public enum WallClock {
  /// Seconds since 1970-01-01 00:00 UTC.
  public static func now() -> Int64 { Int64(time(nil)) }

  /// The same to the nanosecond, as files' times are.
  public static var precise: timespec { timespec(now: CLOCK_REALTIME) }

  /// How many seconds ago a file was written.
  public static func age(of status: stat) -> Int { Int(now()) - status.st_mtim.tv_sec }

  /// When the machine was started, a second early at most.
  public static var startOfMachine: timespec {
    let (now, running) = (precise, timespec(now: CLOCK_BOOTTIME))
    return timespec(tv_sec: now.tv_sec - running.tv_sec - 1, tv_nsec: now.tv_nsec)
  }

  /// The local zone's minutes east of UTC at a time.
  public static func offset(at seconds: Int64 = now()) -> Int {
    var seconds = time_t(seconds)
    var local = tm()
    localtime_r(&seconds, &local)
    return local.tm_gmtoff / 60
  }
}

extension timespec {
  fileprivate init(now clock: clockid_t) {
    self.init()
    clock_gettime(clock, &self)
  }

  /// Whether a time is earlier than another.
  public static func < (left: timespec, right: timespec) -> Bool {
    (left.tv_sec, left.tv_nsec) < (right.tv_sec, right.tv_nsec)
  }
}
