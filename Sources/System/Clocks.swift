public import Glibc

/// A point on the monotonic clock (clock_gettime(2), CLOCK_MONOTONIC), which never jumps.
public struct Instant: Hashable, Comparable, Sendable {
  /// Seconds since a fixed point in the past.
  public let seconds: Double

  /// The point at this number of seconds.
  public init(seconds: Double) { self.seconds = seconds }

  /// A point that is never reached.
  public static let never = Instant(seconds: .infinity)

  /// The present.
  public static var now: Instant { Instant(seconds: Instant.seconds(on: CLOCK_MONOTONIC)) }

  public static func < (left: Instant, right: Instant) -> Bool { left.seconds < right.seconds }

  /// The point that many seconds later.
  public static func + (instant: Instant, seconds: Double) -> Instant {
    Instant(seconds: instant.seconds + seconds)
  }

  /// The seconds from `right` to `left`.
  public static func - (left: Instant, right: Instant) -> Double { left.seconds - right.seconds }

  /// This many seconds from now; now if the number is negative.
  public static func after(seconds: Double) -> Instant { .now + max(seconds, 0) }

  /// Whether the point is in the past.
  public var hasPassed: Bool { self <= .now }

  /// The seconds until the point, at least 0.
  public var secondsLeft: Double { max(self - .now, 0) }

  /// The milliseconds until the point for poll(2): rounded up, and -1 for `never`.
  public var pollTimeout: Int32 {
    self == .never ? -1 : Int32(min((secondsLeft * 1_000).rounded(.up), 86_400_000))
  }

  /// The form for pthread_cond_timedwait(3).
  var timespec: Glibc.timespec {
    let seconds = min(seconds, 1e15)
    let whole = seconds.rounded(.down)
    return Glibc.timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
  }

  /// How many seconds the machine has been asleep since it was started.
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

  /// The present time with nanoseconds, in the form of files' times.
  public static var precise: timespec { timespec(now: CLOCK_REALTIME) }

  /// The modification time that a file written now would get: the time of the system's last tick.
  public static var ofFiles: timespec { timespec(now: CLOCK_REALTIME_COARSE) }

  /// How many seconds ago a file was written.
  public static func age(of status: stat) -> Int { Int(now()) - status.st_mtim.tv_sec }

  /// When the machine was started; may be up to a second early.
  public static var startOfMachine: timespec {
    let (now, running) = (precise, timespec(now: CLOCK_BOOTTIME))
    return timespec(tv_sec: now.tv_sec - running.tv_sec - 1, tv_nsec: now.tv_nsec)
  }

  /// The local zone's minutes east of UTC at a time.
  public static func offset(at seconds: Int64 = now()) -> Int { secondsEast(at: seconds) / 60 }

  /// The local zone's seconds east of UTC at a time; 0 for a time outside the calendar.
  public static func secondsEast(at seconds: Int64) -> Int {
    var seconds = time_t(seconds)
    var local = tm()
    return localtime_r(&seconds, &local) == nil ? 0 : local.tm_gmtoff
  }

  /// A time formatted by strftime(3); for a year outside the calendar, the number of seconds.
  public static func text(_ seconds: Int64, _ format: String, isLocal: Bool = true) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard (isLocal ? localtime_r(&time, &parts) : gmtime_r(&time, &parts)) != nil else {
      return "\(seconds) s"
    }
    var buffer = [CChar](repeating: 0, count: 64)
    strftime(&buffer, buffer.count, format, &parts)
    return String(upToNUL: buffer)
  }
}

/// A day and a time of day in UTC, by the Gregorian calendar of the C library.
public struct CalendarTime: Sendable {
  public let year: Int
  /// The month, from 1.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int
  public let hour: Int
  public let minute: Int
  public let second: Int

  /// The reading of a clock that is `minutesEast` minutes east of UTC, at a number of seconds since 1970-01-01
  /// 00:00 UTC. `seconds` may be any number; `minutesEast` must be less than a year.
  public init(_ seconds: Int64, minutesEast: Int = 0) {
    // The C library converts a limited range of years. The calendar repeats every 400 years, so it only gets the time
    // within such a period.
    let (era, rest) = seconds.quotientAndRemainder(dividingBy: 146_097 * 86_400)
    var (time, fields) = (time_t(rest) + 60 * minutesEast, tm())
    gmtime_r(&time, &fields)
    year = 1900 + Int(fields.tm_year) + 400 * Int(era)
    (month, day) = (Int(fields.tm_mon) + 1, Int(fields.tm_mday))
    (hour, minute, second) = (Int(fields.tm_hour), Int(fields.tm_min), Int(fields.tm_sec))
  }

  /// `2026-11-20`; a year below 0 is written 0000, one above 9999 is written 9999.
  public var date: String {
    [Self.padded(min(max(year, 0), 9999), 4), Self.padded(month), Self.padded(day)]
      .joined(separator: "-")
  }

  /// `10:00`.
  public var timeOfDay: String { Self.padded(hour) + ":" + Self.padded(minute) }

  /// `10:00:00`.
  public var timeOfDayWithSeconds: String { timeOfDay + ":" + Self.padded(second) }

  private static func padded(_ number: Int, _ width: Int = 2) -> String {
    String(String(10_000 + number).suffix(width))
  }

  /// The start of a day, in seconds since 1970; nil if there is no such day, such as 30 February.
  public static func start(year: Int, month: Int, day: Int) -> Int64? {
    guard (1...9999).contains(year) else { return nil }
    var fields = tm()
    fields.tm_year = Int32(year - 1900)
    fields.tm_mon = Int32(month - 1)
    fields.tm_mday = Int32(day)
    let start = timegm(&fields)
    // The C library converts 30 February to a day in March.
    return Int(fields.tm_mon) == month - 1 && Int(fields.tm_mday) == day ? Int64(start) : nil
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
