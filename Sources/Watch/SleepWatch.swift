internal import CLinux
internal import Glibc
internal import Sync
internal import System

/// Notices that the machine was asleep, as soon as it is awake.
///
/// A timer that counts the time asleep, too, ends at once when its moment passed meanwhile; what
/// that clock is ahead of the one that stands still is the sleep.
final class SleepWatch: Sendable {
  private let timer: Int32
  private let stopping: WakeUp

  /// How often the clocks are compared, in seconds.
  static let interval = 60
  /// From how many seconds on it counts as sleep.
  static let nap = 5.0

  init(_ awoken: @escaping @Sendable () -> Void) throws {
    timer = notes_sleepless_timer(Self.interval)
    guard timer >= 0 else {
      throw WatchError.system(call: "timerfd_create", path: "", errno: errno)
    }
    let stopping = try WakeUp()
    self.stopping = stopping
    let timer = timer
    try startThread {
      var gauge = SleepGauge(gap: Instant.secondsAsleep)
      while true {
        if Poll.wait(for: [timer, stopping.descriptor]).contains(stopping.descriptor) { break }
        var count: UInt64 = 0
        _ = read(timer, &count, 8)
        if gauge.hasSlept(gap: Instant.secondsAsleep) { awoken() }
      }
      close(timer)
    }
  }

  func stop() { stopping.signal() }
}

/// Tells from the difference of two clocks whether the machine was asleep.
struct SleepGauge {
  private var gap: Double

  init(gap: Double) { self.gap = gap }

  /// Whether it was, since the last call.
  mutating func hasSlept(gap now: Double) -> Bool {
    defer { gap = now }
    return now - gap >= SleepWatch.nap
  }
}
