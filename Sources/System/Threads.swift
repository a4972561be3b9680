internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that helps the thread which makes it: both take shares of the same work until none is left.
///
/// The maker does not depend on the helper. If the system cannot start the helper, or starts it after the maker
/// is done, the helper does nothing.
///
/// The closure is stored here: a thread that neither frees nor allocates memory needs no separate memory pool.
public final class HelperThread {
  private let body: @Sendable () -> Void
  private let turn = Atomic(Turn.awaited)
  private var handle: pthread_t?

  private enum Turn: UInt8, AtomicRepresentable { case awaited, taken, missed }

  /// Starts the thread.
  public init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    notes_begin_elsewhere(&attributes)
    ThreadStack.enlarge(&attributes)
    let this = Unmanaged.passRetained(self)
    var handle = pthread_t()
    let status = pthread_create(
      &handle, &attributes,
      { argument in
        guard let argument else { return nil }
        let helper = Unmanaged<HelperThread>.fromOpaque(argument).takeRetainedValue()
        notes_run_anywhere()
        if helper.take(.taken) { helper.body() }
        return nil
      }, this.toOpaque())
    if status == 0 { self.handle = handle } else { this.release() }
  }

  /// Waits for the end of the closure if it has begun; if not, prevents it. The maker calls this when
  /// no work is left.
  public func join() {
    guard let handle else { return }
    if take(.missed) { pthread_detach(handle) } else { pthread_join(handle, nil) }
    self.handle = nil
  }

  /// Changes the turn; returns false if the other thread has already changed it.
  private func take(_ new: Turn) -> Bool {
    turn.compareExchange(expected: .awaited, desired: new, ordering: .acquiringAndReleasing)
      .exchanged
  }
}

/// The stack size of threads: the system's default, unless that is small. `ulimit -s` is meant for programs
/// with endless recursion; a small stack would crash this one.
public enum ThreadStack {
  private static let (least, usual) = (1 << 20, 8 << 20)

  /// Whether the main thread's stack is small.
  public static var isSmall: Bool {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0
      && limit.rlim_cur < rlim_t(least)
  }

  fileprivate static func enlarge(_ attributes: inout pthread_attr_t) {
    var size = 0
    if pthread_attr_getstacksize(&attributes, &size) == 0, size < least {
      pthread_attr_setstacksize(&attributes, usual)
    }
  }

  /// Runs `body` on a thread with a large enough stack, if this one's is small, and waits for its
  /// end.
  ///
  /// - Throws: an error if no thread can be started.
  public static func withRoom(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    let end = Latch()
    try startThread {
      body()
      end.open()
    }
    end.wait(until: .never)
  }
}

/// Runs `body` on a new, detached thread.
///
/// - Parameter takesSignals: false if signals must go to the program's other threads.
/// - Throws: an error if no thread can be started.
public func startThread(
  takesSignals: Bool = true, _ body: @escaping @Sendable () -> Void
) throws(SystemCallError) {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var former = sigset_t()
  if !takesSignals {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
  }
  let work = Unmanaged.passRetained(Work(body))
  var thread = pthread_t()
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  ThreadStack.enlarge(&attributes)
  let code = pthread_create(
    &thread, &attributes,
    { @Sendable work in
      guard let work else { return nil }
      Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
      return nil
    }, work.toOpaque())
  if !takesSignals { pthread_sigmask(SIG_SETMASK, &former, nil) }
  guard code == 0 else {
    work.release()
    throw .system(call: "pthread_create", errno: code)
  }
  pthread_detach(thread)
}
