internal import Glibc
internal import Synchronization

/// One line on standard error that tells how far a long piece of work is. It appears on a terminal
/// only, when the work has taken a second, and goes away without a trace.
final class ProgressLine: Sendable {
  private struct State {
    var started: Int64?
    var shown: Int64 = 0
    var isVisible = false
  }

  /// How long nothing is shown, and the pause between two updates, in milliseconds.
  private static let patience: Int64 = 1_000
  private static let interval: Int64 = 100

  private let state = Mutex(State())
  private let terminal: Terminal

  init(on terminal: Terminal = Console.errors) { self.terminal = terminal }

  /// Shows the text in place of what was shown.
  func show(_ text: String) {
    guard terminal.isInteractive else { return }
    let now = Self.milliseconds()
    state.withLock { state in
      let started = state.started ?? now
      state.started = started
      guard now - started >= Self.patience, now - state.shown >= Self.interval else { return }
      state.shown = now
      state.isVisible = true
      let width = (terminal.width ?? 80) - 1
      Output.errors.write("\r" + Width.cut(text, to: width) + "\u{1B}[K")
      Output.errors.flush()
    }
  }

  /// Shows how many things are done of how many: `saving 1,200 of 10,000 files`.
  func show(_ work: String, _ done: Int, of total: Int, _ thing: String) {
    show("\(work) \(Counted.grouped(done)) of \(Counted.things(total, thing))")
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

  private static func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
