internal import Glibc
internal import System

struct Editor {
  /// A command line for the shell, which gets the file's name as one more word.
  let command: String

  /// $VISUAL where the terminal can show one, $EDITOR, then nano or vi.
  static func find(environment: Environment = .process) throws(Failure) -> Editor {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }
    let kind = environment["TERM"] ?? ""
    let isDumb = kind.isEmpty || kind == "dumb"
    if let command = (isDumb ? nil : value("VISUAL")) ?? value("EDITOR") ?? value("VISUAL") {
      return Editor(command: command)
    }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    for name in ["nano", "vi"] {
      let isThere = path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
      guard isThere else { continue }
      guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, !isDumb else {
        throw Failure(
          .failed, "no_terminal", "\(name) needs a terminal to edit in",
          hint: "set EDITOR to a program that does not, or write the file and run 'notes save'")
      }
      return Editor(command: name)
    }
    throw Failure(
      .failed, "no_editor", "no editor was found",
      hint: "set VISUAL or EDITOR to the one that you use")
  }

  func edit(_ file: [UInt8]) throws(Failure) {
    Output.standard.flush()
    Output.errors.flush()
    var terminal = termios()
    let hasTerminal = tcgetattr(STDIN_FILENO, &terminal) == 0
    // Ctrl-C is the editor's business while it runs.
    var (formerInterrupt, formerQuit) = (sigaction(), sigaction())
    var ignoring = sigaction()
    ignoring.__sigaction_handler.sa_handler = SIG_IGN
    sigaction(SIGINT, &ignoring, &formerInterrupt)
    sigaction(SIGQUIT, &ignoring, &formerQuit)
    defer {
      sigaction(SIGINT, &formerInterrupt, nil)
      sigaction(SIGQUIT, &formerQuit, nil)
    }
    switch try run(file) {
    case .exited(0): return
    // What sh(1) says of a program that is not there, or can't be run.
    case .exited(126), .exited(127):
      throw Failure(
        .failed, "no_editor", "the editor '\(Visible.name(command))' cannot be started",
        hint: "set VISUAL or EDITOR to one that is installed")
    // A shell between the two passes a signal on as a status above 128.
    case .killed(let signal),
      .exited(let signal) where signal > 128:
      if hasTerminal { tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal) }
      throw failure("was ended by signal \(signal & 0x7f)")
    case .exited(let code): throw failure("ended with status \(code)")
    }
  }

  private func failure(_ what: String) -> Failure {
    Failure(
      .failed, "editor_failed", "the editor '\(Visible.name(command))' \(what)",
      hint: "no version was made; what it wrote is in the folder, and 'notes save' keeps it")
  }

  private func run(_ file: [UInt8]) throws(Failure) -> ChildProcess.Ending {
    var code = ECHILD
    do {
      let editor = try ChildProcess(
        "/bin/sh", arguments: ChildProcess.shell(command + " \"$@\"", [Array(command.utf8), file]),
        defaultSignals: [SIGINT, SIGQUIT])
      if let ending = editor.wait() { return ending }
    } catch {
      code = error.errno
    }
    throw Failure(
      .failed, "no_editor", "the editor cannot be started: \(String(errorNumber: code))",
      hint: "set VISUAL or EDITOR to one that is installed")
  }
}
