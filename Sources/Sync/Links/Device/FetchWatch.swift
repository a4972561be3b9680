internal import System

/// Whether a pack that was asked for is coming: notes-protocol(7), "Exchanging versions". Whoever lets
/// it be waited for is not to keep it from others who have it, too.
struct FetchWatch {
  /// What to do at the end of a span.
  enum Verdict { case coming, slow, lost }

  private let timeouts: ProtocolTimeouts
  private var spanEnd: Instant
  private var end: Instant
  /// What came in this span.
  private var bytes = 0
  private var isBusyThere = false

  init(_ timeouts: ProtocolTimeouts) {
    self.timeouts = timeouts
    spanEnd = .now + timeouts.piece
    end = .now + timeouts.patience
  }

  /// When to look next.
  var due: Instant { min(spanEnd, end) }

  /// The announcement or a piece of the pack came.
  mutating func note(bytes count: Int) {
    bytes += max(count, 1)
    end = .now + timeouts.patience
  }

  /// The peer says that it is busy.
  mutating func noteWorking() { isBusyThere = true }

  mutating func look() -> Verdict {
    let now = Instant.now
    guard now >= due else { return .coming }
    guard now < end, bytes > 0 || isBusyThere else { return .lost }
    defer { (spanEnd, bytes, isBusyThere) = (now + timeouts.piece, 0, false) }
    return bytes < ProtocolLimits.fetchedBytes ? .slow : .coming
  }
}
