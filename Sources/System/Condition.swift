internal import Glibc

/// Something that threads wait for: a lock, and the news that what it protects has changed.
///
/// Sendable although the compiler cannot tell: it is the system that keeps order among threads.
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

  /// Runs `body`, which alone of all threads has the lock.
  public func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Wakes all who wait. For the thread that has the lock.
  public func broadcast() { pthread_cond_broadcast(condition) }

  /// Waits until `isTrue`, which is asked now and after each `broadcast`; false when it was not by
  /// `deadline`. For the thread that has the lock, which others take meanwhile.
  public func wait(until deadline: Instant, _ isTrue: () -> Bool) -> Bool {
    var time = deadline.timespec
    while !isTrue() {
      if deadline.hasPassed { return false }
      pthread_cond_timedwait(condition, mutex, &time)
    }
    return true
  }
}

/// Values that threads hand to others that wait for them, the oldest first.
///
/// Sendable although the compiler cannot tell: the values are only touched with the lock held.
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

  /// Takes the oldest value, waiting for one until `deadline`; nil when none came.
  public func take(until deadline: Instant) -> Value? {
    condition.locked {
      condition.wait(until: deadline) { !values.isEmpty } ? values.removeFirst() : nil
    }
  }
}

/// A gate that is opened once, and that threads wait at.
///
/// Sendable although the compiler cannot tell: the flag is only touched with the lock held.
public final class Latch: @unchecked Sendable {
  private let condition = Condition()
  private var isOpen = false

  package init() {}

  /// Lets everybody through, now and later.
  public func open() {
    condition.locked {
      isOpen = true
      condition.broadcast()
    }
  }

  /// Waits until it is open; false when it was not by `deadline`.
  @discardableResult
  public func wait(until deadline: Instant) -> Bool {
    condition.locked { condition.wait(until: deadline) { isOpen } }
  }
}
