// Who calls this module names instants and tokens, too.
@_exported public import System

extension Instant {
  /// The end of this attempt where `count` attempts share what is left.
  func share(of count: Int) -> Instant {
    self == .never || count <= 1 ? self : .now + secondsLeft / Double(count)
  }
}

/// The one place where this module waits.
enum Wait {
  enum Outcome: Equatable { case ready, woken }

  /// What a descriptor is to be ready for.
  struct Events: OptionSet {
    let rawValue: Int
    static let reading = Events(rawValue: 1)
    static let writing = Events(rawValue: 2)
  }

  /// Waits until `descriptor` is ready for one of `events`. A cancelled token comes before all else.
  static func until(
    _ descriptor: Int32, _ events: Events, deadline: Instant, phase: ChannelError.Phase,
    cancellation: CancellationToken?, wakeup: WakeUp? = nil
  ) throws(ChannelError) -> Outcome {
    let (cancelled, woken) = (cancellation?.descriptor ?? -1, wakeup?.descriptor ?? -1)
    while true {
      let ready = Poll.wait(
        for: [events.contains(.reading) ? descriptor : -1, cancelled, woken],
        toWrite: events.contains(.writing) ? descriptor : -1, until: deadline)
      if ready.contains(cancelled) { throw .cancelled }
      if ready.contains(descriptor) { return .ready }
      if ready.contains(woken) {
        wakeup?.clear()
        return .woken
      }
      if deadline.hasPassed { throw .timedOut(phase) }
    }
  }
}
