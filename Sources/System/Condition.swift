internal import Glibc

/// A condition that threads wait for: a lock, and notifications that the protected data has
/// changed.
///
/// Unchecked Sendable: the system synchronizes the threads.
public final class Condition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

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

  /// Runs `body` while this thread holds the lock.
  public func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Wakes all waiting threads. Call it with the lock held.
  public func broadcast() { pthread_cond_broadcast(condition) }

  /// Waits until `isTrue` returns true; returns false if that does not happen by `deadline`. Calls `isTrue` now
  /// and after each `broadcast`. Call this with the lock held; other threads can take the lock during the wait.
  public func wait(until deadline: Instant, _ isTrue: () -> Bool) -> Bool {
    var time = deadline.timespec
    while !isTrue() {
      if deadline.hasPassed { return false }
      pthread_cond_timedwait(condition, mutex, &time)
    }
    return true
  }
}

/// Passes values between threads, the oldest first.
///
/// Unchecked Sendable: the values are only used with the lock held.
public final class BlockingQueue<Value: Sendable>: @unchecked Sendable {
  private let condition = Condition()
  private var values: [Value] = []

  package init() {}

  /// Adds a value.
  public func put(_ value: Value) {
    condition.locked {
      values.append(value)
      condition.broadcast()
    }
  }

  /// Takes the oldest value, waiting for one until `deadline`; nil if there is none by then.
  public func take(until deadline: Instant) -> Value? {
    condition.locked {
      condition.wait(until: deadline) { !values.isEmpty } ? values.removeFirst() : nil
    }
  }
}

/// A gate that threads wait for and that opens once.
///
/// Unchecked Sendable: the flag is only used with the lock held.
public final class Latch: @unchecked Sendable {
  private let condition = Condition()
  private var isOpen = false

  package init() {}

  /// Opens the gate for all threads, now and later.
  public func open() {
    condition.locked {
      isOpen = true
      condition.broadcast()
    }
  }

  /// Waits until the gate is open; returns false if it is not by `deadline`.
  @discardableResult
  public func wait(until deadline: Instant) -> Bool {
    condition.locked { condition.wait(until: deadline) { isOpen } }
  }
}
