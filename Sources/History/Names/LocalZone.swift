internal import System

/// How far the clocks on the wall are from UTC at a point in time.
public struct LocalZone: Sendable {
  /// Seconds east of UTC at a time in seconds since 1970.
  let offset: @Sendable (Int64) -> Int64

  /// The zone of this process: `TZ`, or the machine's.
  public static let system = LocalZone { Int64(WallClock.secondsEast(at: $0)) }

  /// The points in time at which the clocks on the wall show `local`, in seconds since 1970 as if
  /// the wall were in Greenwich: the first and the last, for a time may come twice. A time that is
  /// left out when the clocks are put forward means the moment they are.
  func times(showing local: Int64) -> ClosedRange<Int64> {
    // No zone is more than a day from UTC, nor changes its clocks twice in two days.
    let before = offset(local - 86_400)
    let after = offset(local + 86_400)
    let found = [local - before, local - after].filter { $0 + offset($0) == local }
    if let first = found.min(), let last = found.max() { return first...last }
    var low = local - 86_400
    var high = local + 86_400
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(middle) == before { low = middle } else { high = middle }
    }
    return high...high
  }
}
