internal import Synchronization

/// An amount of work: files, and their size together.
public struct WorkAmount: Hashable, Codable, Sendable {
  /// The number of files.
  public var files = 0
  /// The total number of bytes.
  public var bytes = 0

  package init(files: Int = 0, bytes: Int = 0) { (self.files, self.bytes) = (files, bytes) }
}

/// The progress of a checkout, to be read by another thread.
public final class WorkMeter: Sendable {
  private let state = Mutex((done: WorkAmount(), total: 0))

  /// A meter that shows no progress yet.
  public init() {}

  /// The amount written so far, and the total number of files; zero before the checkout begins.
  public var reading: (done: WorkAmount, totalFiles: Int) {
    state.withLock { ($0.done, $0.total) }
  }

  package func begin(files: Int) { state.withLock { $0 = (WorkAmount(), files) } }

  package func count(bytes: Int) {
    state.withLock { state in
      state.done.files += 1
      state.done.bytes += bytes
    }
  }
}
