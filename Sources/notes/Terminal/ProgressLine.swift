internal import Synchronization
internal import System

/// One line on standard error that tells how far a long piece of work is. It appears on a terminal
/// only, when the work has taken a second, and goes away without a trace.
final class ProgressLine: Sendable {
  private struct State {
    var started: Instant?
    var shown: Instant?
    var isVisible = false
  }

  /// How long nothing is shown, and the pause between two updates, in seconds.
  private static let patience = 1.0
  private static let interval = 0.1

  private let state = Mutex(State())

  /// Counts from now on how long the work takes; else from the first text on.
  func start() { state.withLock { $0.started = .now } }

  func show(_ text: String) {
    guard Console.errors.isInteractive else { return }
    let now = Instant.now
    state.withLock { state in
      let started = state.started ?? now
      state.started = started
      let isDue = state.shown.map { now - $0 >= Self.interval } ?? true
      guard now - started >= Self.patience, isDue else { return }
      state.shown = now
      state.isVisible = true
      let width = (Console.errors.width ?? 80) - 1
      Output.errors.write("\r" + Width.cut(text, to: width) + "\u{1B}[K")
      Output.errors.flush()
    }
  }

  /// Shows how many things are done of how many: `saving 1,200 of 10,000 files`.
  func show(_ work: String, _ done: Int, of total: Int, _ thing: String) {
    show("\(work) \(Phrase.number(done)) of \(Phrase.count(total, thing))")
  }

  /// Takes the line away, before anything else is written or when the work is done.
  func clear() {
    state.withLock { state in
      guard state.isVisible else { return }
      state.isVisible = false
      Output.errors.write("\r\u{1B}[K")
      Output.errors.flush()
    }
  }
}
