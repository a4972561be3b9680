internal import COpenSSL
// Callers of this module also use instants and tokens.
@_exported public import System

/// The only code of this module that waits.
enum Wait {
  struct Events: OptionSet {
    let rawValue: Int
    static let reading = Events(rawValue: 1)
    static let writing = Events(rawValue: 2)
  }

  /// Waits until `descriptor` is ready for one of `events`, or until `wakeup` was signalled, which is
  /// then cleared. A cancelled token takes precedence.
  static func until(
    _ descriptor: Int32, _ events: Events, deadline: Instant, phase: ChannelError.Phase,
    cancellation: CancellationToken?, wakeup: WakeUp? = nil
  ) throws(ChannelError) {
    let (cancelled, woken) = (cancellation?.descriptor ?? -1, wakeup?.descriptor ?? -1)
    while true {
      let ready = Poll.wait(
        for: [events.contains(.reading) ? descriptor : -1, cancelled, woken],
        toWrite: events.contains(.writing) ? descriptor : -1, until: deadline)
      if ready.contains(cancelled) { throw .cancelled }
      if ready.contains(descriptor) { return }
      if ready.contains(woken) {
        wakeup?.clear()
        return
      }
      if deadline.hasPassed { throw .timedOut(phase) }
    }
  }
}

extension Wait.Events {
  /// The event to wait for, from a result of `SSL_get_error`; nil for none.
  init?(status: Int32) {
    switch status {
    case SSL_ERROR_WANT_READ: self = .reading
    case SSL_ERROR_WANT_WRITE: self = .writing
    default: return nil
    }
  }
}
