internal import Glibc

/// Something that threads wait for: a lock, and the news that what it protects has changed.
///
/// Sendable although the compiler cannot tell: it is the system that keeps order among threads.
public final class Condition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

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

  /// Runs `body`, which alone of all threads has the lock.
  public func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Wakes all who wait. For the thread that has the lock.
  public func broadcast() { pthread_cond_broadcast(condition) }

  /// Waits until `isTrue`, which is asked now and after each `broadcast`; false when it was not by that
  /// time of `MonotonicClock`. For the thread that has the lock, which others take meanwhile.
  public func wait(until end: Double, _ isTrue: () -> Bool) -> Bool {
    let whole = end.rounded(.down)
    var time = timespec(tv_sec: Int(whole), tv_nsec: Int((end - whole) * 1e9))
    while !isTrue() {
      if MonotonicClock.seconds >= end { return false }
      pthread_cond_timedwait(condition, mutex, &time)
    }
    return true
  }
}

/// The clock that never jumps.
public enum MonotonicClock {
  /// Seconds since some moment of the past.
  public static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Runs `body` on a thread of its own, which nobody joins.
///
/// - Returns: 0, or the error of pthread_create(3), when there is no thread to be had.
public func detachThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let work = Unmanaged.passRetained(Work(body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, nil,
    { @Sendable work in
      guard let work else { return nil }
      Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
      return nil
    }, work.toOpaque())
  if code == 0 { pthread_detach(thread) } else { work.release() }
  return code
}
