internal import Glibc

/// Runs `body` on a thread of its own, which nobody joins.
///
/// - Parameter takesSignals: false where signals are to come to the program's other threads.
/// - Throws: when there is no thread to be had.
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
  let code = pthread_create(
    &thread, nil,
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
