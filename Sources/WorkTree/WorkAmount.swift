internal import Synchronization

/// How much of some work: files, and what they hold together.
public struct WorkAmount: Hashable, Codable, Sendable {
  /// How many files.
  public var files = 0
  /// How many bytes they hold.
  public var bytes = 0

  package init(files: Int = 0, bytes: Int = 0) { (self.files, self.bytes) = (files, bytes) }
}

/// How far a checkout is, for another thread to look at while it runs.
public final class WorkMeter: Sendable {
  private let state = Mutex((done: WorkAmount(), total: 0))

  /// Nothing done yet.
  public init() {}

  /// The amount that is written so far, and the number of files; zero before it has begun.
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
