internal import System

/// Says what a command waits for, on standard error, as soon as that has taken a second. It appears on a
/// terminal only, and goes away without a trace.
final class WaitingLine {
  private let line = ProgressLine()
  private let isOver = Latch()
  private var thread: HelperThread?

  /// Counts from now on.
  init(_ text: String) {
    guard Console.errors.isInteractive else { return }
    line.start()
    thread = HelperThread { [line, isOver] in
      if !isOver.wait(until: .now + ProgressLine.patience) { line.show(text) }
    }
  }

  deinit { end() }

  /// Takes it away, before anything else is shown.
  func end() {
    isOver.open()
    thread?.join()
    thread = nil
    line.clear()
  }

  /// Shows the text while work goes on, and returns or throws its result.
  static func show<Value>(_ text: String, during work: () throws -> Value) rethrows -> Value {
    let line = WaitingLine(text)
    defer { line.end() }
    return try work()
  }
}
