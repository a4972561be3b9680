internal import Glibc
internal import Synchronization
internal import System
internal import WorkTree

/// An output stream, written in large pieces. Lines that belong together appear together, also when
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

  /// Whether writing failed, as when the reader went away: there is no use in writing more.
  var isClosed: Bool { state.withLock { $0.failure != 0 } }

  func write(_ text: String) { write(bytes: text.utf8) }

  func write(bytes: some Sequence<UInt8>) {
    state.withLock { state in
      state.pending.append(contentsOf: bytes)
      if state.pending.count >= Self.capacity { drain(&state) }
    }
  }

  /// Writes text for people, broken at words where it is wider than their terminal.
  func tell(_ text: String) {
    write((descriptor == STDERR_FILENO ? Console.errors : Console.output).wrapped(text))
  }

  /// Writes a line for people.
  func line(_ text: String = "") { tell(text + "\n") }

  func lines(_ values: some Sequence<JSON>) { for value in values { write(value.text + "\n") } }

  /// Adds a JSON value on a line of its own, and writes it: a program that follows events gets
  /// each as it happens.
  func event(_ value: JSON) {
    lines([value])
    flush()
  }

  func flush() { state.withLock { drain(&$0) } }

  /// Writes what has gathered and reports whether everything arrived. A reader that has gone away
  /// (`notes list | head`) is no failure.
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

/// One line on standard error that tells how far a long piece of work is. It appears on a terminal
/// only, when the work has taken a second, and goes away without a trace.
final class ProgressLine: Sendable {
  private struct State {
    var started: Instant?
    var shown: Instant?
    var isVisible = false
  }

  /// How long nothing is shown, and the pause between two updates, in seconds.
  static let patience = 1.0
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

  /// Shows how much is done of how much: `saving 1,200 of 10,000 files, 12 MB of 80 MB`.
  func show(_ work: String, _ done: WorkAmount, of total: WorkAmount) {
    show(Phrase.work(work, done, of: total))
  }

  /// Shows how many things are done of how many: `saving 1,200 of 10,000 files`.
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
