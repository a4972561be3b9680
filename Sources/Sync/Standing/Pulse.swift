internal import Channel

/// The `working` messages of a side that takes a pack and has nothing to send: on a slow line the
/// other side, which has sent all, hears nothing else until the pack has arrived.
struct SignsOfLife {
  private let interval: Double
  private var due: Moment

  init(every interval: Double) {
    self.interval = interval
    due = .now + interval
  }

  /// The message, if it is time for one.
  mutating func next() throws -> Frame? {
    let now = Moment.now
    guard now >= due else { return nil }
    due = now + interval
    return try Frame(WorkingMessage())
  }
}

/// Whether the other end of a session that stands is alive: notes-protocol(7), "Standing sessions".
struct Pulse {
  private let interval: Double
  private let patience: Double
  /// When something came last.
  private var heard = Moment.now
  /// When a sign of life was asked for that has not come yet.
  private var asked: Moment?

  /// What to do when nothing has come.
  enum Verdict { case alive, asks, dead }

  init(timeouts: ProtocolTimeouts) {
    interval = timeouts.ping
    patience = timeouts.message
  }

  /// Something came.
  mutating func beat() {
    heard = .now
    asked = nil
  }

  /// A sign of life is asked for.
  mutating func ask() { asked = asked ?? .now }

  /// How many seconds to wait for something to come, at most until `moment`.
  func wait(until moment: Moment?) -> Double {
    var end = asked.map { $0 + patience } ?? heard + interval
    if let moment { end = min(end, moment) }
    return max(end.seconds - Moment.now.seconds, 0)
  }

  /// What it means that nothing came until now.
  mutating func look() -> Verdict {
    let now = Moment.now
    if let asked { return now >= asked + patience ? .dead : .alive }
    guard now >= heard + interval else { return .alive }
    asked = now
    return .asks
  }
}
