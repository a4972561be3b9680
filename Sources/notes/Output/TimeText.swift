internal import Glibc
internal import System

/// Points in time, in seconds since 1970-01-01 00:00 UTC, as text.
enum TimeText {
  /// The present second.
  static var now: Int64 { WallClock.now() }

  /// RFC 3339: `2026-11-20T10:00:00+01:00`, with `Z` for UTC. `offset` is in minutes east of UTC.
  static func rfc3339(_ seconds: Int64, offset: Int = 0) -> String {
    let local = seconds + Int64(offset) * 60
    let day = local.flooredQuotient(by: 86_400)
    let second = Int(local - day * 86_400)
    let date = civil(day)
    let zone =
      offset == 0
      ? "Z"
      : (offset < 0 ? "-" : "+") + two(abs(offset) / 60) + ":" + two(abs(offset) % 60)
    return "\(four(date.year))-\(two(date.month))-\(two(date.day))T\(two(second / 3600)):"
      + "\(two(second / 60 % 60)):\(two(second % 60))\(zone)"
  }

  /// The date and time of day in the local zone: `2026-11-20 10:00`.
  static func local(_ seconds: Int64) -> String {
    formatted(seconds, "%Y-%m-%d %H:%M") ?? rfc3339(seconds)
  }

  /// The weekday, date, time and zone in the local zone: `Fri 2026-11-20 10:00:00 +0100`.
  static func long(_ seconds: Int64) -> String {
    formatted(seconds, "%a %Y-%m-%d %H:%M:%S %z") ?? rfc3339(seconds)
  }

  /// How long ago: `just now`, `5 minutes ago`, `yesterday`, `3 weeks ago`; a date after a year.
  static func relative(_ seconds: Int64, now: Int64) -> String {
    let age = now - seconds
    // A minute ahead is another device's clock, not the future.
    if age < -60 { return "on " + local(seconds) }
    if age < 60 { return "just now" }
    if age < 3600 { return Counted.things(Int(age / 60), "minute") + " ago" }
    if age < 86_400 { return Counted.things(Int(age / 3600), "hour") + " ago" }
    if age < 2 * 86_400 { return "yesterday" }
    if age < 14 * 86_400 { return "\(age / 86_400) days ago" }
    if age < 60 * 86_400 { return "\(age / (7 * 86_400)) weeks ago" }
    if age < 365 * 86_400 { return "\(age / (30 * 86_400)) months ago" }
    return "on " + String(local(seconds).prefix(10))
  }

  /// How long ago, in few letters: `now`, `5m`, `3h`, `9d`, `6w`, `2y`.
  static func short(_ seconds: Int64, now: Int64) -> String {
    let age = now - seconds
    if age < 60 { return age < -60 ? "later" : "now" }
    if age < 3600 { return "\(age / 60)m" }
    if age < 86_400 { return "\(age / 3600)h" }
    if age < 14 * 86_400 { return "\(age / 86_400)d" }
    if age < 365 * 86_400 { return "\(age / (7 * 86_400))w" }
    return "\(age / (365 * 86_400))y"
  }

  /// A length of time: `45 s`, `9 min`, to the nearest minute.
  static func duration(_ seconds: Int) -> String {
    seconds < 120 ? "\(seconds) s" : "\((seconds + 30) / 60) min"
  }

  /// A time in the local zone, as strftime(3) writes it. No field of `tm` is named here: OpenSSL's
  /// headers bring that type along, and Swift can't always tell whose it is.
  private static func formatted(_ seconds: Int64, _ format: String) -> String? {
    var input = time_t(seconds)
    let parts = UnsafeMutablePointer<tm>.allocate(capacity: 1)
    defer { parts.deallocate() }
    guard localtime_r(&input, parts) != nil else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let length = strftime(&buffer, buffer.count, format, parts)
    return String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The date of a day counted from 1970-01-01 in the Gregorian calendar, by eras of 400 years.
  private static func civil(_ day: Int64) -> (year: Int, month: Int, day: Int) {
    // Counted from 0000-03-01, a leap day is the last day of its year.
    let shifted = day + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = Int(shifted - era * 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func four(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension Int64 {
  /// The quotient rounded down, also for negative numbers.
  fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
  }
}
