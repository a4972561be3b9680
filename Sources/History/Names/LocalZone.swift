internal import System

/// The offsets of local time from UTC, by point in time.
public struct LocalZone: Sendable {
  /// Seconds east of UTC at a time, which is in seconds since 1970.
  let offset: @Sendable (Int64) -> Int64

  /// The zone of this process: `TZ`, or the machine's.
  public static let system = LocalZone { Int64(WallClock.secondsEast(at: $0)) }

  /// The first and the last point in time at which local clocks show `local`: clocks that are put
  /// back show a time twice. `local` is counted in seconds since 1970 as if local time were UTC. If
  /// clocks skip the time when they are put forward, it means the moment of the change.
  func times(showing local: Int64) -> ClosedRange<Int64> {
    // No zone is more than a day from UTC, or changes its clocks twice in two days.
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
