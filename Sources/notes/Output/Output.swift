internal import Glibc
internal import Synchronization
internal import System

/// One of the process's two output streams, written in large pieces.
///
/// Lines that belong together appear together, also when several threads report at once.
final class Output: Sendable {
  /// What the user asked for: reports, and events as they happen.
  static let standard = Output(descriptor: STDOUT_FILENO)
  static let errors = Output(descriptor: STDERR_FILENO)

  private struct State {
    var pending: [UInt8] = []
    var failure: Int32 = 0
  }

  /// Enough for most reports to be one write.
  private static let capacity = 1 << 16

  private let descriptor: Int32
  private let state = Mutex(State())

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Whether writing failed, as when the reader went away: there is no use in writing more.
  var isClosed: Bool { state.withLock { $0.failure != 0 } }

  /// Adds text; it is written when enough has gathered, or at `flush()`.
  func write(_ text: String) { write(bytes: text.utf8) }

  func write(bytes: some Sequence<UInt8>) {
    state.withLock { state in
      state.pending.append(contentsOf: bytes)
      if state.pending.count >= Self.capacity { drain(&state) }
    }
  }

  func line(_ text: String = "") { write(text + "\n") }

  func lines(_ values: some Sequence<JSON>) {
    for value in values { line(value.text) }
  }

  /// Adds a JSON value on a line of its own, and writes it: a program that follows events gets
  /// each as it happens.
  func event(_ value: JSON) {
    lines([value])
    flush()
  }

  func flush() {
    state.withLock { drain(&$0) }
  }

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
