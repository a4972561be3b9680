import Testing

@testable import History
@testable import Notebook

@Suite("Times as people name them: notes-versions(7)")
struct NamedTimeTests {
  /// Saturday 2026-11-21 12:34:56 UTC.
  let now: Int64 = 1_795_264_496
  let utc = LocalZone { _ in 0 }
  /// Berlin around 2026: summer time from 29 March 01:00 UTC to 25 October 01:00 UTC.
  let berlin = LocalZone { 1_774_746_000 <= $0 && $0 < 1_792_890_000 ? 7200 : 3600 }

  private func seconds(_ text: String, in zone: LocalZone? = nil) -> ClosedRange<Int64>? {
    NamedTime(parsing: text, now: now, zone: zone ?? utc).map { $0.first...$0.last }
  }

  private func day(_ number: Int64) -> ClosedRange<Int64> {
    (number * 86_400)...(number * 86_400 + 86_399)
  }

  @Test("days: dates, words, weekdays, so many days, weeks, months, years ago")
  func days() {
    let today = now / 86_400
    for (text, expected) in [
      ("2026-11-21", today), ("today", today), ("Yesterday", today - 1), ("2026-11-1", today - 20),
      ("friday", today - 1), ("fri", today - 1), ("monday", today - 5), ("last monday", today - 5),
      ("saturday", today - 7), ("SUN", today - 6), ("last week", today - 7),
      ("a week ago", today - 7), ("3 days ago", today - 3), ("2 weeks ago", today - 14),
      ("last month", today - 31), ("9 months ago", today - 273), ("a year ago", today - 365),
      ("1970-01-01", 0), ("2024-02-29", 19_782), ("2d", today - 2), ("3w", today - 21),
      ("three weeks ago", today - 21), ("two days ago", today - 2), ("1y", today - 365),
      ("Nov 20", today - 1), ("20 november", today - 1), ("Nov 21", today), ("Nov 22", today - 364),
      ("dec 24", today - 332), ("Sept 1, 2026", today - 81), ("29 feb", 19_782),
      ("1 jan 1970", 0),
    ] { #expect(seconds(text) == day(expected), "\(text)") }
    // 31 March has no fellow in February.
    let march = NamedTime(parsing: "a month ago", now: 1_774_915_200, zone: utc)
    #expect(march == NamedTime(parsing: "2026-02-28", now: now, zone: utc))
  }

  @Test("points in time: a minute means all of it, a second itself")
  func points() {
    let morning = now / 86_400 * 86_400 + 36_000
    #expect(seconds("now") == now...now)
    #expect(seconds("2 hours ago") == (now - 7200)...(now - 7200))
    #expect(seconds("an hour ago") == (now - 3600)...(now - 3600))
    #expect(seconds("5 minutes ago") == (now - 300)...(now - 300))
    for text in ["10:00", "today 10:00", "2026-11-21 10:00", "2026-11-21T10:00"] {
      #expect(seconds(text) == morning...(morning + 59), "\(text)")
    }
    #expect(seconds("yesterday 10:00")?.lowerBound == morning - 86_400)
    #expect(seconds("last monday 10:00")?.lowerBound == morning - 5 * 86_400)
    #expect(seconds("Nov 20 10:00")?.lowerBound == morning - 86_400)
    #expect(seconds("20 Nov 2026 10:00:05")?.lowerBound == morning - 86_395)
    #expect(seconds("5min") == (now - 300)...(now - 300))
    #expect(seconds("2h") == (now - 7200)...(now - 7200))
    #expect(seconds("monday 9:05")?.lowerBound == morning - 5 * 86_400 - 3300)
    for text in ["2026-11-21 10:00:00", "2026-11-21T10:00:00Z", "2026-11-21T11:30:00+01:30"] {
      #expect(seconds(text) == morning...morning, "\(text)")
    }
    #expect(seconds("2026-11-21T10:00:00Z", in: berlin) == morning...morning)
    #expect(seconds("2026-11-21 11:00", in: berlin)?.lowerBound == morning)
  }

  @Test("the clocks' changes: a missing time is the moment of the change, a double one both")
  func clockChanges() {
    #expect(seconds("2026-03-29 02:30", in: berlin)?.lowerBound == 1_774_746_000)
    #expect(seconds("2026-03-29 03:00", in: berlin)?.lowerBound == 1_774_746_000)
    #expect(seconds("2026-03-29", in: berlin)?.count == 23 * 3600)
    let twice = seconds("2026-10-25 02:30", in: berlin)
    #expect(twice?.lowerBound == 1_792_888_200 && twice?.upperBound == 1_792_891_859)
    #expect(seconds("2026-10-25", in: berlin)?.count == 25 * 3600)
    // Samoa left out 30 December 2011.
    let apia = LocalZone { $0 < 1_325_239_200 ? -36_000 : 50_400 }
    #expect(seconds("2011-12-30", in: apia)?.lowerBound == 1_325_239_200)
    #expect(seconds("2011-12-31", in: apia)?.lowerBound == 1_325_239_200)
  }

  @Test("everything else is no time")
  func others() {
    for text in [
      "", " ", "~1", "2026", "2026-13-01", "2026-02-30", "2025-02-29", "26-11-21", "1969-12-31",
      "2026-11-21 24:00", "2026-11-21 10", "2026-11-21 10:60", "2026-11-21 1:2", "10:00:61",
      "ago", "2 ago", "-1 days ago", "200d", "2m", "d", "feb 30", "nov", "nov 20 26", "20 20",
      "last nov 20", "thirteen days ago", "99999999 days ago", "last", "last day",
      "monday tuesday", "yesterday 10:00 now", "2026-11-21t", "20261121", "deadbeef", "١٢:٠٠",
      "2026-11-21 10:00:00+1", "10:00+25:00", "9999999 months ago", "999999 months ago",
    ] { #expect(seconds(text) == nil, "\(text)") }
  }
}
