internal import System

/// When a side that has nothing to send says that it is alive: on a slow line the other side, which has
/// sent all, hears nothing else until the pack has arrived.
struct SignsOfLife {
  private let interval: Double
  private(set) var due: Instant

  init(every interval: Double) {
    self.interval = interval
    due = .now + interval
  }

  /// Whether it is time for a message; the next one is due after the interval.
  mutating func isDue() -> Bool {
    let now = Instant.now
    guard now >= due else { return false }
    due = now + interval
    return true
  }
}

/// Whether the other end of a session is alive: notes-protocol(7), "Time-outs".
struct Heartbeat {
  private let timeouts: ProtocolTimeouts
  /// Silence is the end: "nothing came for 10 s, or no piece of a pack for 15 min".
  private var isStrict = false
  /// When something came last.
  private var heard = Instant.now
  /// When a piece of a pack went or came last.
  private var advanced = Instant.now
  /// When a sign of life was asked for that has not come yet.
  private var asked: Instant?

  /// What to do when nothing has come.
  enum Verdict { case alive, asks, dead }

  init(_ timeouts: ProtocolTimeouts) { self.timeouts = timeouts }

  /// From now on nobody is asked for a sign of life.
  mutating func endsWhenSilent() {
    isStrict = true
    (heard, advanced) = (.now, .now)
  }

  /// Something came.
  mutating func beat() {
    heard = .now
    asked = nil
  }

  /// Nobody listened for so many seconds.
  mutating func excuse(_ seconds: Double) {
    (heard, advanced) = (heard + seconds, advanced + seconds)
    asked = asked.map { $0 + seconds }
  }

  /// A piece of a pack went or came.
  mutating func advance() { advanced = .now }

  /// A sign of life is asked for.
  mutating func ask() { asked = asked ?? .now }

  private var end: Instant {
    if isStrict { return min(heard + timeouts.message, advanced + timeouts.patience) }
    return asked.map { $0 + timeouts.message } ?? heard + timeouts.ping
  }

  /// How many seconds to wait for something to come, at most until `moment`.
  func wait(until moment: Instant?) -> Double {
    max(min(moment ?? end, end).seconds - Instant.now.seconds, 0)
  }

  /// What it means that nothing came until now.
  mutating func look() -> Verdict {
    let now = Instant.now
    guard now >= end else { return .alive }
    if isStrict || asked != nil { return .dead }
    asked = now
    return .asks
  }
}
