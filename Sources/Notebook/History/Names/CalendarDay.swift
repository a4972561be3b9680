/// A day of the Gregorian calendar, counted from 1970-01-01.
struct CalendarDay: Hashable, Sendable {
  var number: Int64

  init(number: Int64) { self.number = number }

  /// The day that a time on the wall falls on, in seconds.
  init(containing local: Int64) {
    number = local >= 0 ? local / 86_400 : -((-local + 86_399) / 86_400)
  }

  /// The day of that date, or nil when there is none, as in 30 February.
  init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.length(ofMonth: month, year)
    else { return nil }
    // Counted from March, the leap day is the last of its year.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let leapDays = shifted / 4 - shifted / 100 + shifted / 400
    number = Int64(shifted * 365 + leapDays + dayOfYear - 719_468)
  }

  /// The wall's seconds at its beginning.
  var start: Int64 { number * 86_400 }

  /// 0 for Monday to 6 for Sunday.
  var weekday: Int { Int(((number + 3) % 7 + 7) % 7) }

  /// The same day so many months earlier; the month's last where it is shorter.
  func months(before count: Int) -> CalendarDay? {
    let (year, month, day) = date
    let index = year * 12 + month - 1 - count
    guard index >= 12 else { return nil }
    let (there, inYear) = (index / 12, index % 12 + 1)
    return CalendarDay(
      year: there, month: inYear, day: min(day, Self.length(ofMonth: inYear, there)))
  }

  private var date: (year: Int, month: Int, day: Int) {
    // A year too late at most: 366 days are never shorter than a year.
    var year = Int((number + 719_468) / 366)
    while let next = CalendarDay(year: year + 1, month: 1, day: 1), next.number <= number {
      year += 1
    }
    var month = 1
    while month < 12, let next = CalendarDay(year: year, month: month + 1, day: 1),
      next.number <= number
    { month += 1 }
    let first = CalendarDay(year: year, month: month, day: 1)?.number ?? number
    return (year, month, Int(number - first) + 1)
  }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }
}
