internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that helps the one which makes it: both take shares of the same work until none is left.
///
/// Nobody depends on it: where no thread is to be had, or the system has not run it by the time its
/// maker has done everything, it does nothing.
///
/// The closure stays here: a thread that frees or allocates nothing costs no memory pool of its own.
public final class HelperThread {
  private let body: @Sendable () -> Void
  private let turn = Atomic(Turn.awaited)
  private var handle: pthread_t?

  private enum Turn: UInt8, AtomicRepresentable { case awaited, taken, missed }

  /// Starts it.
  public init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    notes_begin_elsewhere(&attributes)
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

  /// Waits for the closure's end if it has begun; if not, it never will. For its maker, when no work is
  /// left.
  public func join() {
    guard let handle else { return }
    if take(.missed) { pthread_detach(handle) } else { pthread_join(handle, nil) }
    self.handle = nil
  }

  /// False when the turn was taken or missed before.
  private func take(_ new: Turn) -> Bool {
    turn.compareExchange(expected: .awaited, desired: new, ordering: .acquiringAndReleasing)
      .exchanged
  }
}
