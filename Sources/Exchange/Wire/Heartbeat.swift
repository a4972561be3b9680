internal import System

// notes-protocol(7), "Time-outs" and "Exchanging versions": signs of life, and the progress of
// packs.

/// Tracks whether the other side of a session is alive.
struct Heartbeat {
  private let timeouts: ProtocolTimeouts
  /// Whether the session ends if nothing arrives for 10 s, or no piece of a pack for 15 min.
  private var isStrict = false
  private var heard = Instant.now
  private var advanced = Instant.now
  /// The time of a request for a sign of life that has not arrived yet.
  private var asked: Instant?

  enum Verdict { case alive, asks, dead }

  init(_ timeouts: ProtocolTimeouts) { self.timeouts = timeouts }

  /// Lets silence end the session from now on, without a request for a sign of life.
  mutating func endsWhenSilent() {
    isStrict = true
    (heard, advanced) = (.now, .now)
  }

  mutating func beat() {
    heard = .now
    asked = nil
  }

  mutating func excuse(_ seconds: Double) {
    (heard, advanced) = (heard + seconds, advanced + seconds)
    asked = asked.map { $0 + seconds }
  }

  /// A piece of a pack was sent or received.
  mutating func advance() { advanced = .now }

  mutating func ask() { asked = asked ?? .now }

  private var end: Instant {
    if isStrict { return min(heard + timeouts.message, advanced + timeouts.patience) }
    return asked.map { $0 + timeouts.message } ?? heard + timeouts.ping
  }

  /// How many seconds to wait for input, at most until `moment`.
  func wait(until moment: Instant?) -> Double { min(moment ?? end, end).secondsLeft }

  mutating func look() -> Verdict {
    guard end.hasPassed else { return .alive }
    if isStrict || asked != nil { return .dead }
    asked = .now
    return .asks
  }
}

/// Tracks whether a requested pack arrives. If a piece takes longer than its time-out, this side also asks
/// other devices that have the pack.
struct FetchWatch {
  enum Verdict { case coming, slow, lost }

  private let timeouts: ProtocolTimeouts
  private var spanEnd: Instant
  private var end: Instant
  private var bytesInSpan = 0
  private var isBusyThere = false

  init(_ timeouts: ProtocolTimeouts) {
    self.timeouts = timeouts
    spanEnd = .now + timeouts.piece
    end = .now + timeouts.patience
  }

  var due: Instant { min(spanEnd, end) }

  /// The announcement or a piece of the pack has arrived.
  mutating func arrived(bytes count: Int) {
    bytesInSpan += max(count, 1)
    end = .now + timeouts.patience
  }

  mutating func peerIsWorking() { isBusyThere = true }

  mutating func look() -> Verdict {
    let now = Instant.now
    guard now >= due else { return .coming }
    guard now < end, bytesInSpan > 0 || isBusyThere else { return .lost }
    (spanEnd, bytesInSpan, isBusyThere) = (now + timeouts.piece, 0, false)
    return .slow
  }
}
