internal import Glibc

/// Collects what happens on other threads, and lets a test wait for it.
///
/// Sendable although the compiler cannot tell: the events are only touched with the mutex held.
public final class EventLog<Event: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var events: [Event] = []
  private var taken = 0
  private var isClosed = false

  public init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Adds an event.
  public func append(_ event: Event) {
    append(contentsOf: CollectionOfOne(event))
  }

  /// Adds events.
  public func append(contentsOf more: some Sequence<Event>) {
    locked {
      events.append(contentsOf: more)
      pthread_cond_broadcast(condition)
    }
  }

  /// Says that nothing more will come: those who wait stop waiting.
  public func close() {
    locked {
      isClosed = true
      pthread_cond_broadcast(condition)
    }
  }

  /// Everything there was, taken or not.
  public var all: [Event] { locked { events } }

  /// Takes the first event not yet taken that `matches`, with those before it, waiting for it up to
  /// `seconds`; nil when it did not come.
  public func next(
    within seconds: Double = 20, where matches: (Event) -> Bool = { _ in true }
  ) -> Event? {
    let end = Moment.now + seconds
    return locked {
      var looked = taken
      while true {
        while looked < events.count {
          looked += 1
          if matches(events[looked - 1]) {
            taken = looked
            return events[looked - 1]
          }
        }
        if isClosed || Moment.now >= end { return nil }
        var time = Moment.timespec(end)
        pthread_cond_timedwait(condition, mutex, &time)
      }
    }
  }

  /// Waits up to `seconds` until `isEnough` says so of everything there was; false if it never did.
  public func wait(within seconds: Double = 20, until isEnough: ([Event]) -> Bool) -> Bool {
    let end = Moment.now + seconds
    return locked {
      while !isEnough(events) {
        if isClosed || Moment.now >= end { return false }
        var time = Moment.timespec(end)
        pthread_cond_timedwait(condition, mutex, &time)
      }
      return true
    }
  }

  private func locked<R>(_ body: () -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}

/// Seconds on the clock that never jumps.
public enum Moment {
  public static var now: Double {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  static func timespec(_ seconds: Double) -> Glibc.timespec {
    let whole = seconds.rounded(.down)
    return Glibc.timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
  }
}
