internal import System

/// Points in time, in seconds since 1970-01-01 00:00 UTC, as text.
enum TimeText {
  static var now: Int64 { WallClock.now() }

  /// RFC 3339: `2026-11-20T10:00:00+01:00`, with `Z` for UTC. `offset` is in minutes east of UTC.
  static func rfc3339(_ seconds: Int64, offset: Int = 0) -> String {
    // The form has no offset of a day or more, but a version may have one.
    let offset = abs(offset) < 24 * 60 ? offset : 0
    let (hours, minutes) = abs(offset).quotientAndRemainder(dividingBy: 60)
    let zone =
      offset == 0
      ? "Z"
      : (offset < 0 ? "-" : "+") + "\(hours + 100)".dropFirst() + ":"
        + "\(minutes + 100)".dropFirst()
    let time = CalendarTime(seconds, minutesEast: offset)
    return "\(time.date)T\(time.timeOfDayWithSeconds)\(zone)"
  }

  /// The date and time of day in the local zone: `2026-11-20 10:00`.
  static func local(_ seconds: Int64) -> String { WallClock.text(seconds, "%Y-%m-%d %H:%M") }

  /// The weekday, date, time and zone in the local zone: `Fri 2026-11-20 10:00:00 +0100`.
  static func long(_ seconds: Int64) -> String {
    WallClock.text(seconds, "%a %Y-%m-%d %H:%M:%S %z")
  }

  /// The age in words: `just now`, `5 minutes ago`, `yesterday`, `3 weeks ago`; a date after a
  /// year.
  static func relative(_ seconds: Int64, now: Int64) -> String {
    let age = age(of: seconds, now: now)
    // A time up to a minute in the future is a difference between clocks.
    if age < -60 { return "on " + local(seconds) }
    if age < 60 { return "just now" }
    if age < 3600 { return Phrase.count(Int(age / 60), "minute") + " ago" }
    if age < 86_400 { return Phrase.count(Int(age / 3600), "hour") + " ago" }
    if age < 2 * 86_400 { return "yesterday" }
    if age < 14 * 86_400 { return "\(age / 86_400) days ago" }
    if age < 60 * 86_400 { return "\(age / (7 * 86_400)) weeks ago" }
    if age < 365 * 86_400 { return "\(age / (30 * 86_400)) months ago" }
    return "on " + String(local(seconds).prefix(10))
  }

  /// The age in few letters: `now`, `5m`, `3h`, `9d`, `6w`, `2y`.
  static func short(_ seconds: Int64, now: Int64) -> String {
    let age = age(of: seconds, now: now)
    if age < 60 { return age < -60 ? "later" : "now" }
    if age < 3600 { return "\(age / 60)m" }
    if age < 86_400 { return "\(age / 3600)h" }
    if age < 14 * 86_400 { return "\(age / 86_400)d" }
    if age < 365 * 86_400 { return "\(age / (7 * 86_400))w" }
    return "\(age / (365 * 86_400))y"
  }

  /// The age in seconds; a version may have any 64-bit time.
  private static func age(of seconds: Int64, now: Int64) -> Int64 {
    let (age, isOver) = now.subtractingReportingOverflow(seconds)
    return isOver ? (seconds < 0 ? .max : .min) : age
  }

  /// A length of time, rounded: `45 s`, `9 min`, `3 hours`, `7 days`. It is rounded before the unit is chosen, so that
  /// a second more or less never makes `2 hours` of `120 min`.
  static func duration(_ seconds: Int) -> String {
    let (minutes, hours) = ((seconds + 30) / 60, (seconds + 1_800) / 3_600)
    if seconds < 120 { return "\(seconds) s" }
    if minutes < 120 { return "\(minutes) min" }
    if hours < 48 { return "\(hours) hours" }
    return "\((seconds + 43_200) / 86_400) days"
  }

  static func left(until end: Int64, now: Int64) -> String { duration(Int(max(0, end - now))) }
}
