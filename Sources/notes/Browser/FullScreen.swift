internal import Glibc
internal import Synchronization
internal import System

/// The terminal while a command uses all of it: in raw mode, on its alternate screen, and restored
/// however the command ends.
final class FullScreen {
  enum Event: Equatable {
    case bytes([UInt8])
    /// The window has another size, or the screen must be drawn again.
    case resized
    /// This process was stopped, or was asked to stop.
    case stopRequested
    /// A request to end, or the terminal was closed.
    case ended
    case quiet
  }

  /// The alternate screen, no cursor, bracketed paste, and mouse buttons in the form without a
  /// limit for the window's size.
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1006h"
  private static let end: StaticString =
    "\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l"

  /// The settings to restore: the address of a `termios`; 0 while the terminal is unchanged.
  private static let saved = Atomic<UInt>(0)
  /// The received signals that were not handled yet, a bit for each.
  private static let received = Atomic<UInt64>(0)
  private static let signalled = Atomic<Int32>(-1)

  private let memory: UnsafeMutablePointer<termios>
  private let signals: WakeUp

  /// - Throws: a failure if standard input or output is not a terminal, or if the terminal only
  ///   writes lines.
  init(environment: Environment = .process) throws(Failure) {
    let kind = environment["TERM"] ?? ""
    let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    guard isTerminal, !kind.isEmpty, kind != "dumb" else {
      throw Failure(
        .failed, "no_terminal",
        isTerminal
          ? "browse does not work on a terminal of the kind '\(Visible.name(kind))'"
          : "browse needs a terminal",
        hint: "'notes list', 'notes log' and 'notes show' write to files and pipes")
    }
    do {
      signals = try WakeUp()
    } catch {
      throw Failure.system(error.call, errno: error.errno)
    }
    // Signal handlers may run until the process ends, so the memory they use is never freed.
    _ = Unmanaged.passRetained(signals)
    memory = .allocate(capacity: 1)
    memory.initialize(to: termios())
    tcgetattr(STDIN_FILENO, memory)
    Self.signalled.store(signals.descriptor, ordering: .sequentiallyConsistent)
    Self.report([SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT])
    // A crash restores the terminal and then proceeds as usual.
    let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]
    Self.handle(crashes, flags: Int32(bitPattern: UInt32(SA_RESETHAND))) { @Sendable signal in
      FullScreen.restore()
      // The signal is delivered when the handler returns, with the default action.
      raise(signal)
    }
  }

  deinit { leave() }

  func enter() {
    var raw = memory.pointee
    cfmakeraw(&raw)
    Self.saved.store(UInt(bitPattern: memory), ordering: .sequentiallyConsistent)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    write(Self.begin)
  }

  func leave() { Self.restore() }

  /// The window's size; 80 by 24 if the terminal does not report it.
  var size: Screen.Size {
    let size = Terminal.windowSize(STDOUT_FILENO)
    return size.flatMap { $0.rows > 0 ? $0 : nil } ?? Screen.Size(columns: 80, rows: 24)
  }

  // If the terminal was closed, a signal ends the browser.
  func write(_ text: String) { try? Disk.write(Array(text.utf8), to: STDOUT_FILENO, path: "") }

  func next(within milliseconds: Int32? = nil) -> Event {
    let end = milliseconds.map { .now + Double($0) / 1_000 } ?? Instant.never
    while true {
      let ready = Poll.wait(for: [signals.descriptor, STDIN_FILENO], until: end)
      if ready.isEmpty { return .quiet }
      if ready.contains(signals.descriptor), let event = signalEvent() { return event }
      guard ready.contains(STDIN_FILENO) else { continue }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let length = read(STDIN_FILENO, &bytes, bytes.count)
      if length > 0 { return .bytes(Array(bytes[..<length])) }
      if length < 0, errno == EINTR || errno == EAGAIN { continue }
      return .ended
    }
  }

  /// Stops this process as Ctrl-Z does, with the terminal restored until it continues.
  ///
  /// - Parameter group: whether to also stop the rest of its job, as a terminal would.
  func suspend(group: Bool) {
    leave()
    Self.handle([SIGTSTP], SIG_DFL)
    if group { kill(0, SIGTSTP) } else { raise(SIGTSTP) }
    Self.report([SIGTSTP])
    enter()
  }

  /// Gives the normal terminal to a program or a dialogue. Signals from the keyboard in that time are for the
  /// program, and are ignored here.
  func lend<Result>(_ body: () throws -> Result) rethrows -> Result {
    leave()
    defer {
      Output.standard.flush()
      Output.errors.flush()
      let keyboard = [SIGINT, SIGQUIT].reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
      Self.received.bitwiseAnd(~keyboard, ordering: .sequentiallyConsistent)
      enter()
    }
    return try body()
  }

  private func signalEvent() -> Event? {
    signals.clear()
    let received = Self.received.exchange(0, ordering: .sequentiallyConsistent)
    if received == 0 { return nil }
    func hasCome(_ signal: Int32) -> Bool { received & 1 << UInt64(signal) != 0 }
    if [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(where: hasCome) { return .ended }
    if hasCome(SIGTSTP) { return .stopRequested }
    // A program that had the terminal may have changed its settings.
    if hasCome(SIGCONT) { enter() }
    return .resized
  }

  private static func report(_ signals: [Int32]) {
    handle(signals) { @Sendable signal in
      let number = errno
      FullScreen.received.bitwiseOr(1 << UInt64(signal), ordering: .sequentiallyConsistent)
      WakeUp.signal(FullScreen.signalled.load(ordering: .sequentiallyConsistent))
      errno = number
    }
  }

  private static func handle(_ signals: [Int32], flags: Int32 = 0, _ handler: __sighandler_t?) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    action.sa_flags = flags
    for signal in signals { sigaction(signal, &action, nil) }
  }

  /// Restores the terminal. Uses only functions that are safe in a signal handler.
  private static func restore() {
    let address = saved.exchange(0, ordering: .sequentiallyConsistent)
    guard let settings = UnsafeMutablePointer<termios>(bitPattern: address) else { return }
    _ = Glibc.write(STDOUT_FILENO, end.utf8Start, end.utf8CodeUnitCount)
    tcsetattr(STDIN_FILENO, TCSADRAIN, settings)
  }
}
