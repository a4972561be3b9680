internal import System

/// Times in words, in the zone of this device.
struct SpokenTime {
  /// In seconds since 1970.
  let seconds: Int64
  private let now: Int64

  init(_ seconds: Int64, now: Int64 = WallClock.now()) { (self.seconds, self.now) = (seconds, now) }

  /// The day, counted from 1970 in this zone.
  private static func day(_ seconds: Int64) -> Int {
    let local = Int(clamping: seconds) &+ WallClock.secondsEast(at: seconds)
    return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
  }

  /// How many days ago it was; negative for a day in the future, from a wrong clock.
  private var daysAgo: Int { Self.day(now) - Self.day(seconds) }
  private var isThisYear: Bool { text("%Y") == WallClock.text(now, "%Y") }
  private func text(_ format: String) -> String { WallClock.text(seconds, format) }

  /// The form for a row under a heading with the day or the month.
  var brief: String {
    switch daysAgo {
    case 0, 1: text("%H:%M")
    case 2...6: text("%a")
    default: isThisYear ? text("%-d %b") : text("%-d %b %Y")
    }
  }

  /// Its heading in the list.
  var period: String {
    switch daysAgo {
    case 0: "Today"
    case 1: "Yesterday"
    case 2...6: "This week"
    default: isThisYear ? text("%B") : text("%B %Y")
    }
  }

  /// Its heading in the list of a note's versions.
  var dayName: String {
    switch daysAgo {
    case 0: "Today"
    case 1: "Yesterday"
    default: isThisYear ? text("%A, %-d %B") : text("%-d %B %Y")
    }
  }

  /// The time with its day, if no heading has the day.
  var full: String {
    switch daysAgo {
    case 0: text("today, %H:%M")
    case 1: text("yesterday, %H:%M")
    default: isThisYear ? text("%-d %B, %H:%M") : text("%-d %B %Y, %H:%M")
    }
  }

  /// The time of day.
  var clock: String { text("%H:%M") }
}

extension HTML {
  /// A time in these words, also in a form for programs; a tooltip shows the complete time.
  static func time(_ seconds: Int64, _ words: KeyPath<SpokenTime, String> = \.full) -> HTML {
    let time = CalendarTime(seconds)
    let machine = "\(time.date)T\(time.timeOfDayWithSeconds)Z"
    let whole = WallClock.text(seconds, "%Y-%m-%d %H:%M")
    return """
      <time datetime="\(machine)" title="\(whole)">\(SpokenTime(seconds)[keyPath: words])</time>
      """
  }
}
