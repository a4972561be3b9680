internal import Glibc

/// A day of the Gregorian calendar, counted from 1970-01-01.
struct CalendarDay: Hashable, Sendable {
  var number: Int64

  init(number: Int64) { self.number = number }

  /// The day that a time on the wall falls on, in seconds.
  init(containing local: Int64) {
    number = (local - (local % 86_400 + 86_400) % 86_400) / 86_400
  }

  /// The day of that date, or nil when there is none, as in 30 February.
  init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year) else { return nil }
    var fields = tm()
    fields.tm_year = Int32(year - 1900)
    fields.tm_mon = Int32(month - 1)
    fields.tm_mday = Int32(day)
    let start = timegm(&fields)
    // The C library takes 30 February for a day of March.
    guard Int(fields.tm_mon) == month - 1, Int(fields.tm_mday) == day else { return nil }
    number = Int64(start) / 86_400
  }

  /// The wall's seconds at its beginning.
  var start: Int64 { number * 86_400 }

  /// 0 for Monday to 6 for Sunday.
  var weekday: Int { Int(((number + 3) % 7 + 7) % 7) }

  /// The same day so many months earlier; the month's last where it is shorter.
  func months(before count: Int) -> CalendarDay? {
    var seconds = time_t(start)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    let index = (Int(fields.tm_year) + 1900) * 12 + Int(fields.tm_mon) - count
    return (0...3).lazy.compactMap {
      CalendarDay(year: index / 12, month: index % 12 + 1, day: Int(fields.tm_mday) - $0)
    }.first
  }
}
