internal import System

/// A way to say a time, in the zone of this device.
enum TimeStyle {
  /// The form for a row under a heading with the day or the month.
  case brief
  /// The heading above such rows: the day or the month.
  case period
  /// The heading among a note's versions.
  case day
  /// The time with its day, for places without a heading that names the day.
  case full
  case clock

  /// The formats of strftime(3) for a time of today, of yesterday, of the five days before, of another day of this
  /// year, and of another year.
  private var formats: [String] {
    switch self {
    case .brief: ["%H:%M", "%H:%M", "%a", "%-d %b", "%-d %b %Y"]
    case .period: ["Today", "Yesterday", "This week", "%B", "%B %Y"]
    case .day: ["Today", "Yesterday", "%A, %-d %B", "%A, %-d %B", "%-d %B %Y"]
    case .full:
      ["today, %H:%M", "yesterday, %H:%M", "%-d %B, %H:%M", "%-d %B, %H:%M", "%-d %B %Y, %H:%M"]
    case .clock: Array(repeating: "%H:%M", count: 5)
    }
  }

  /// The words for a time in seconds since 1970.
  func text(_ seconds: Int64, now: Int64 = WallClock.now()) -> String {
    let isThisYear = WallClock.text(seconds, "%Y") == WallClock.text(now, "%Y")
    let place =
      switch Self.day(now) - Self.day(seconds) {
      case 0: 0
      case 1: 1
      case 2...6: 2
      default: isThisYear ? 3 : 4
      }
    return WallClock.text(seconds, formats[place])
  }

  /// The day, counted from 1970 in this zone.
  private static func day(_ seconds: Int64) -> Int {
    let local = Int(clamping: seconds) &+ WallClock.secondsEast(at: seconds)
    return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
  }
}

extension HTML {
  /// A time in these words, also in a form for programs; a tooltip shows the complete time.
  static func time(_ seconds: Int64, _ style: TimeStyle = .full) -> HTML {
    let time = CalendarTime(seconds)
    let machine = "\(time.date)T\(time.timeOfDayWithSeconds)Z"
    let whole = WallClock.text(seconds, "%Y-%m-%d %H:%M")
    return "<time datetime=\"\(machine)\" title=\"\(whole)\">\(style.text(seconds))</time>"
  }
}
