internal import System

/// Collects what happens on other threads, and lets a test wait for it.
///
/// Sendable although the compiler cannot tell: the events are only touched with the lock held.
public final class EventLog<Event: Sendable>: @unchecked Sendable {
  private let condition = Condition()
  private var events: [Event] = []
  private var taken = 0
  private var isClosed = false

  public init() {}

  /// Adds an event.
  public func append(_ event: Event) {
    append(contentsOf: CollectionOfOne(event))
  }

  /// Adds events.
  public func append(contentsOf more: some Sequence<Event>) {
    condition.locked {
      events.append(contentsOf: more)
      condition.broadcast()
    }
  }

  /// Says that nothing more will come: those who wait stop waiting.
  public func close() {
    condition.locked {
      isClosed = true
      condition.broadcast()
    }
  }

  /// Waits up to `seconds` for the end of what comes; false if it did not come.
  func waitUntilClosed(within seconds: Double) -> Bool {
    let end = Instant.now + seconds
    return condition.locked { condition.wait(until: end) { isClosed } }
  }

  /// Everything there was, taken or not.
  public var all: [Event] { condition.locked { events } }

  /// Takes the first event not yet taken that `matches`, with those before it, waiting for it up to
  /// `seconds`; nil when it did not come.
  public func next(
    within seconds: Double = 80, where matches: (Event) -> Bool = { _ in true }
  ) -> Event? {
    let end = Instant.now + seconds
    return condition.locked {
      var looked = taken
      while true {
        while looked < events.count {
          looked += 1
          if matches(events[looked - 1]) {
            taken = looked
            return events[looked - 1]
          }
        }
        _ = condition.wait(until: end) { looked < events.count || isClosed }
        if looked == events.count { return nil }
      }
    }
  }

  /// Waits up to `seconds` until `isEnough` says so of everything there was; false if it never did.
  public func wait(within seconds: Double = 80, until isEnough: ([Event]) -> Bool) -> Bool {
    let end = Instant.now + seconds
    return condition.locked {
      var isMet = false
      return condition.wait(until: end) {
        isMet = isEnough(events)
        return isMet || isClosed
      } && isMet
    }
  }
}

/// Seconds on the clock that never jumps.
public enum Moment {
  public static var now: Double { Instant.now.seconds }
}
