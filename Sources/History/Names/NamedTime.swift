internal import System

/// A time in words that people use, in the local zone: notes-versions(7), "Times".
public struct NamedTime: Hashable, Sendable {
  /// The first second of the time, since 1970; a day has 86,400 seconds.
  public let first: Int64
  /// The last second of the time, since 1970.
  public let last: Int64

  /// Reads a time; nil if the text is not a time. "Ago" counts from `now`, seconds since 1970.
  public init?(parsing text: String, now: Int64, zone: LocalZone = .system) {
    var words = text.lowercased().split(separator: " ").map(String.init)
    // `2026-11-20t10:00` has two words.
    if words.count == 1, let first = words[0].utf8.first, (0x30...0x39).contains(first) {
      words = words[0].split(separator: "t", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
    }
    let reader = NamedTimeReader(now: now, zone: zone)
    guard let times = reader.times(words) else { return nil }
    (first, last) = (times.lowerBound, times.upperBound)
  }
}

/// A day is represented by the local time of its beginning, as if local time were UTC.
private struct NamedTimeReader {
  let now: Int64
  let zone: LocalZone

  private static let dayLength: Int64 = 86_400

  private var today: Int64 {
    let local = now + zone.offset(now)
    return local - (local % Self.dayLength + Self.dayLength) % Self.dayLength
  }

  func times(_ words: [String]) -> ClosedRange<Int64>? {
    if words == ["now"] { return now...now }
    if words.last == "ago" { return ago(Array(words.dropLast())) }
    if words.count == 1, let times = ago(short: words[0]) { return times }
    if words.count == 2, words[0] == "last", let unit = TimeUnit(words[1]) {
      switch unit {
      case .seconds, .days(1): return nil
      default: return earlier(1, unit)
      }
    }
    if words.count == 1, let clock = ClockTime(words[0]) { return times(clock, on: today) }
    if let day = day(named: words) { return whole(day) }
    guard let clock = words.last.flatMap(ClockTime.init) else { return nil }
    return day(named: words.dropLast()).flatMap { times(clock, on: $0) }
  }

  private func day(named words: some BidirectionalCollection<String>) -> Int64? {
    let words = Array(words)
    switch words.count {
    case 1: return day(named: words[0])
    case 2 where words[0] == "last": return weekday(words[1])
    case 2, 3: return day(ofMonthIn: words)
    default: return nil
    }
  }

  /// `nov 20`, `20 november`, and with a year; without a year, the last such day up to today.
  private func day(ofMonthIn words: [String]) -> Int64? {
    var words = words
    var named: Int?
    if words.count == 3 {
      named = words.removeLast()[...].number(4...4)
      if named == nil { return nil }
    }
    let (first, second) = (
      words[0], words[1].hasSuffix(",") ? String(words[1].dropLast()) : words[1]
    )
    guard let month = self.month(first) ?? self.month(second),
      let number = (self.month(first) == nil ? first : second)[...].number(1...2)
    else { return nil }
    if let named {
      return named < 1970 ? nil : CalendarTime.start(year: named, month: month, day: number)
    }
    let year = CalendarTime(today).year
    // The last 29 February is up to eight years ago.
    return (0...8).lazy.compactMap {
      CalendarTime.start(year: year - $0, month: month, day: number)
    }
    .first { $0 <= today }
  }

  private func month(_ word: String) -> Int? {
    let names = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september",
      "october", "november", "december",
    ]
    return names.firstIndex {
      $0 == word || $0.prefix(3) == word || word == "sept" && $0.hasPrefix(word)
    }
    .map { $0 + 1 }
  }

  private func day(named word: String) -> Int64? {
    if word == "today" { return today }
    if word == "yesterday" { return today - Self.dayLength }
    if let day = weekday(word) { return day }
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let year = parts[0].number(4...4), let month = parts[1].number(1...2),
      let day = parts[2].number(1...2), year >= 1970
    else { return nil }
    return CalendarTime.start(year: year, month: month, day: day)
  }

  /// The same day `count` months earlier, or the month's last day if the month is shorter.
  private func today(monthsAgo count: Int) -> Int64? {
    let today = CalendarTime(today)
    let month = today.year * 12 + today.month - 1 - count
    return (0...3).lazy.compactMap {
      CalendarTime.start(year: month / 12, month: month % 12 + 1, day: today.day - $0)
    }.first
  }

  private func weekday(_ word: String) -> Int64? {
    // 1970-01-01 was a Thursday.
    let names = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"]
    return names.firstIndex { $0 == word || $0.prefix(3) == word }.map { weekday in
      today - ((today / Self.dayLength - Int64(weekday) + 6) % 7 + 1) * Self.dayLength
    }
  }

  private static let numbers = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
  ]

  /// `2 hours`, `a day`, `an hour`, `three weeks`.
  private func ago(_ words: [String]) -> ClosedRange<Int64>? {
    guard words.count == 2, let unit = TimeUnit(words[1]) else { return nil }
    let named = ["a", "an"].contains(words[0]) ? 0 : Self.numbers.firstIndex(of: words[0])
    guard let count = named.map({ $0 + 1 }) ?? words[0][...].number(1...6) else { return nil }
    return earlier(count, unit)
  }

  /// `2d`: at most two digits, as more may be the beginning of an ID.
  private func ago(short word: String) -> ClosedRange<Int64>? {
    let digits = word.prefix { $0.isNumber }
    let units = ["s": "second", "min": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"]
    guard let unit = units[String(word.dropFirst(digits.count))].flatMap(TimeUnit.init),
      let count = digits.number(1...2)
    else { return nil }
    return earlier(count, unit)
  }

  private func earlier(_ count: Int, _ unit: TimeUnit) -> ClosedRange<Int64>? {
    switch unit {
    case .seconds(let seconds):
      let time = now - Int64(count) * seconds
      return time...time
    case .days(let days): return whole(today - Int64(count * days) * Self.dayLength)
    case .months(let months): return today(monthsAgo: count * months).map(whole)
    }
  }

  private func whole(_ day: Int64) -> ClosedRange<Int64> {
    let start = zone.times(showing: day).lowerBound
    return start...max(start, zone.times(showing: day + Self.dayLength).lowerBound - 1)
  }

  private func times(_ clock: ClockTime, on day: Int64) -> ClosedRange<Int64>? {
    let local = day + Int64(clock.seconds)
    if let offset = clock.offset { return (local - offset)...(local - offset + clock.length - 1) }
    let times = zone.times(showing: local)
    return times.lowerBound...(times.upperBound + clock.length - 1)
  }
}

/// A duration. Days and months follow the calendar.
private enum TimeUnit {
  case seconds(Int64)
  case days(Int)
  case months(Int)

  init?(_ word: String) {
    switch word.hasSuffix("s") ? String(word.dropLast()) : word {
    case "second", "sec": self = .seconds(1)
    case "minute", "min": self = .seconds(60)
    case "hour": self = .seconds(3600)
    case "day": self = .days(1)
    case "week": self = .days(7)
    case "month": self = .months(1)
    case "year": self = .months(12)
    default: return nil
    }
  }
}

/// `10:00`, `10:00:05`, and with a zone `10:00:05Z`, `10:00:05+01:00`.
private struct ClockTime {
  /// The seconds since midnight.
  let seconds: Int
  /// How many seconds it covers: a time without seconds covers its whole minute.
  let length: Int64
  /// Seconds east of UTC; nil if the text does not say.
  let offset: Int64?

  init?(_ word: String) {
    var text = word[...]
    var offset: Int64?
    if text.last == "z" {
      text.removeLast()
      offset = 0
    } else if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard let (seconds, parts) = Self.seconds(text[text.index(after: sign)...]), parts == 2 else {
        return nil
      }
      offset = Int64(text[sign] == "+" ? seconds : -seconds)
      text = text[..<sign]
    }
    guard let (seconds, parts) = Self.seconds(text) else { return nil }
    self.seconds = seconds
    self.offset = offset
    length = parts == 3 ? 1 : 60
  }

  private static func seconds(_ text: Substring) -> (Int, parts: Int)? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hour = parts[0].number(1...2), hour < 24,
      let minute = parts[1].number(2...2), minute < 60,
      let second = parts.count == 3 ? parts[2].number(2...2) : 0, second < 60
    else { return nil }
    return (hour * 3600 + minute * 60 + second, parts.count)
  }
}

extension Substring {
  /// The number written with this many ASCII digits; nil for anything else.
  fileprivate func number(_ digits: ClosedRange<Int>) -> Int? {
    digits.contains(utf8.count) && utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(self) : nil
  }
}
