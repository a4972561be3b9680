internal import Glibc
internal import Synchronization
internal import System
internal import WorkTree

/// An output stream, written in large pieces. Lines that belong together stay together, even if
/// several threads report at once.
final class Output: Sendable {
  /// Reports that the user asked for, and events as they happen.
  static let standard = Output(descriptor: STDOUT_FILENO)
  static let errors = Output(descriptor: STDERR_FILENO)

  private struct State {
    var pending: [UInt8] = []
    var failure: Int32 = 0
  }

  private static let capacity = 1 << 16

  private let descriptor: Int32
  private let state = Mutex(State())

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Whether a write failed, for example because the reader ended: further writes are useless.
  var isClosed: Bool { state.withLock { $0.failure != 0 } }

  func write(_ text: String) { write(bytes: text.utf8) }

  func write(bytes: some Sequence<UInt8>) {
    state.withLock { state in
      state.pending.append(contentsOf: bytes)
      if state.pending.count >= Self.capacity { drain(&state) }
    }
  }

  /// Writes text for people, broken between words at their terminal's width.
  func tell(_ text: String) {
    write((descriptor == STDERR_FILENO ? Console.errors : Console.output).wrapped(text))
  }

  /// Writes a line for people.
  func line(_ text: String = "") { tell(text + "\n") }

  func lines(_ values: some Sequence<JSON>) { for value in values { write(value.text + "\n") } }

  /// Adds a JSON value on a separate line, and flushes, so that a program that follows events gets each at
  /// once.
  func event(_ value: JSON) {
    lines([value])
    flush()
  }

  func flush() { state.withLock { drain(&$0) } }

  /// Writes buffered text, and throws if a write failed. It is not a failure if the reader has ended (`notes
  /// list | head`).
  func finish() throws(Failure) {
    flush()
    let failure = state.withLock { $0.failure }
    if failure != 0, failure != EPIPE { throw .outputLost(errno: failure) }
  }

  private func drain(_ state: inout State) {
    do {
      if state.failure == 0 { try Disk.write(state.pending, to: descriptor, path: "") }
    } catch {
      state.failure = error.errno
    }
    state.pending.removeAll(keepingCapacity: true)
  }
}

/// A line on standard error with the progress of long work. It appears only on a terminal, after a
/// second, and is erased at the end.
final class ProgressLine: Sendable {
  private struct State {
    var started: Instant?
    var shown: Instant?
    var isVisible = false
  }

  /// After how long the line appears, and how often it changes, in seconds.
  static let patience = 1.0
  private static let interval = 0.1

  private let state = Mutex(State())

  /// Starts the clock for the first second; without this call, the first text does.
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

  /// Shows the amounts done and in total: `saving 1,200 of 10,000 files, 12 MB of 80 MB`.
  func show(_ work: String, _ done: WorkAmount, of total: WorkAmount) {
    show(Phrase.work(work, done, of: total))
  }

  /// Shows the numbers done and in total: `saving 1,200 of 10,000 files`.
  func show(_ work: String, _ done: Int, of total: Int, _ thing: String) {
    show("\(work) \(Phrase.number(done)) of \(Phrase.count(total, thing))")
  }

  func clear() {
    state.withLock { state in
      guard state.isVisible else { return }
      state.isVisible = false
      Output.errors.write("\r\u{1B}[K")
      Output.errors.flush()
    }
  }
}
