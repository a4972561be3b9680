internal import Glibc

/// A thread that runs one closure; it is waited for before the last reference to it goes.
///
/// The closure stays here: a thread that frees or allocates nothing costs no memory pool of its own.
final class ScanThread {
  private let body: @Sendable () -> Void
  private var handle = pthread_t()
  private var isRunning = false

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    let status = pthread_create(
      &handle, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<ScanThread>.fromOpaque(argument).takeUnretainedValue().body()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
    isRunning = status == 0
    // No thread to be had: the work is done here and now.
    if !isRunning { body() }
  }

  /// Waits for the closure's end.
  func join() {
    guard isRunning else { return }
    pthread_join(handle, nil)
    isRunning = false
  }
}
