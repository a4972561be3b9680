// Who calls this module names instants and tokens, too.
@_exported public import System

/// Runs work on another thread while this one says that it is alive.
enum BusyWork {
  /// The result of `body`, which runs on a thread of its own; meanwhile `tick` is called every
  /// `interval` seconds on this one.
  ///
  /// - Throws: what `body` or `tick` throws; `body` always runs to its end.
  static func run<Result>(
    every interval: Double, tick: () throws -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result {
    let outcome = Handover<Result>(body)
    let done = BlockingQueue<Bool>()
    try startThread {
      outcome.run()
      done.put(true)
    }
    var failure: (any Error)?
    while done.take(until: .now + interval) == nil {
      guard failure == nil else { continue }
      do { try tick() } catch { failure = error }
    }
    if let failure { throw failure }
    return try outcome.get()
  }
}

/// Carries work to a thread and its result back.
///
/// Sendable although its content is not: the starting thread touches it only after the other one
/// said that it is done, and leaves what `body` uses alone in between.
private final class Handover<Value>: @unchecked Sendable {
  private var body: (() throws -> Value)?
  private var result: Result<Value, any Error>?

  init(_ body: @escaping () throws -> Value) { self.body = body }

  func run() {
    guard let body else { return }
    result = Result { try body() }
    self.body = nil
  }

  func get() throws -> Value {
    guard let result else { throw SyncError.failed("the work did not run") }
    return try result.get()
  }
}
