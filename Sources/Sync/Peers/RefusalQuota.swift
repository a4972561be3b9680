internal import Synchronization
internal import System

/// How many refusals of strangers are told: whoever connects without end is not to fill a log, or to
/// push an invitation's code off a screen.
public final class RefusalQuota: Sendable {
  private let burst: Double
  private let perSecond: Double
  private let state: Mutex<State>

  private struct State: Sendable {
    var room: Double
    var last: Instant
    /// How many were not told since the last one that was.
    var untold = 0
  }

  /// So many at once, and as many a second in the long run.
  public init(burst: Double = 20, perSecond: Double = 0.2) {
    self.burst = burst
    self.perSecond = perSecond
    state = Mutex(State(room: burst, last: .now))
  }

  /// Asks whether one more may be told; how many were passed over before it, or nil for no.
  public func take() -> Int? { take(.now) }

  func take(_ now: Instant) -> Int? {
    state.withLock { state in
      state.room = min(
        burst, state.room + max(0, now.seconds - state.last.seconds) * perSecond)
      state.last = now
      guard state.room >= 1 else {
        state.untold += 1
        return nil
      }
      state.room -= 1
      defer { state.untold = 0 }
      return state.untold
    }
  }
}
