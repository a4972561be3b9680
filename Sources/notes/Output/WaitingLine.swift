internal import System

/// A line on standard error that says what the command waits for, after a second. It appears only on a
/// terminal, and is erased at the end.
final class WaitingLine {
  private let line = ProgressLine()
  private let isOver = Latch()
  private var thread: HelperThread?

  /// Starts the clock for the first second.
  init(_ text: String) {
    guard Console.errors.isInteractive else { return }
    line.start()
    thread = HelperThread { [line, isOver] in
      if !isOver.wait(until: .now + ProgressLine.patience) { line.show(text) }
    }
  }

  deinit { end() }

  /// Erases the line, before anything else is shown.
  func end() {
    isOver.open()
    thread?.join()
    thread = nil
    line.clear()
  }

  /// Shows the text during `work`, and returns its result.
  static func show<Value>(_ text: String, during work: () throws -> Value) rethrows -> Value {
    let line = WaitingLine(text)
    defer { line.end() }
    return try work()
  }
}
