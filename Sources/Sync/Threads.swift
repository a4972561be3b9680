internal import Glibc

/// Runs `body` on a thread of its own, which nobody joins.
package func startThread(_ body: @escaping @Sendable () -> Void) throws {
  var thread = pthread_t()
  let box = Unmanaged.passRetained(ThreadBody(body))
  let status = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  guard status == 0 else {
    box.release()
    throw SyncError.failed("no thread to be had: error \(status)")
  }
  pthread_detach(thread)
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Values that threads hand to one that waits for them.
///
/// Sendable although the compiler cannot tell: the values are only touched with the mutex held.
package final class Mailbox<Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var values: [Value] = []

  package init() {
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

  package func put(_ value: Value) {
    pthread_mutex_lock(mutex)
    values.append(value)
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// The oldest value, waited for until `moment`; nil when none came.
  package func take(until moment: Moment) -> Value? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while values.isEmpty {
      if Moment.now >= moment { return nil }
      var time = moment.timespec
      pthread_cond_timedwait(condition, mutex, &time)
    }
    return values.removeFirst()
  }
}

/// A point on the clock that never jumps, in seconds.
package struct Moment: Comparable, Sendable {
  package var seconds: Double

  package static var now: Moment {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  package static func < (left: Moment, right: Moment) -> Bool { left.seconds < right.seconds }
  package static func + (moment: Moment, seconds: Double) -> Moment {
    Moment(seconds: moment.seconds + seconds)
  }

  var timespec: Glibc.timespec {
    let whole = seconds.rounded(.down)
    return Glibc.timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
  }
}

/// Runs work on another thread while this one says that it is alive.
enum BusyWork {
  /// The result of `body`, which runs on a thread of its own; meanwhile `tick` is called every
  /// `interval` seconds on this one.
  ///
  /// - Throws: what `body` or `tick` throws; `body` always runs to its end.
  static func run<Result>(
    every interval: Double, tick: () throws -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result {
    let outcome = Handover<Result>(body)
    let done = Mailbox<Bool>()
    try startThread {
      outcome.run()
      done.put(true)
    }
    var failure: (any Error)?
    while done.take(until: .now + interval) == nil {
      guard failure == nil else { continue }
      do { try tick() } catch { failure = error }
    }
    if let failure { throw failure }
    return try outcome.get()
  }
}

/// Carries work to a thread and its result back.
///
/// Sendable although its content is not: the starting thread touches it only after the other one
/// said that it is done, and leaves what `body` uses alone in between.
private final class Handover<Value>: @unchecked Sendable {
  private var body: (() throws -> Value)?
  private var result: Result<Value, any Error>?

  init(_ body: @escaping () throws -> Value) { self.body = body }

  func run() {
    guard let body else { return }
    result = Result { try body() }
    self.body = nil
  }

  func get() throws -> Value {
    guard let result else { throw SyncError.failed("the work did not run") }
    return try result.get()
  }
}
