internal import Glibc

/// A thread that runs one closure and is waited for.
final class ScanThread {
  private var handle = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(
      &handle, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    // No thread to be had: the work is done here and now.
    if status != 0 {
      handle = 0
      box.takeRetainedValue().body()
    }
  }

  /// Waits for the closure's end.
  func join() {
    if handle != 0 { pthread_join(handle, nil) }
  }

  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
