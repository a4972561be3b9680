internal import Glibc
internal import System

struct Editor {
  /// A command line for the shell; the names of the files are added as arguments.
  let command: String

  /// $VISUAL if the terminal can show a full-screen editor, then $EDITOR, nano or vi.
  static func find(environment: Environment = .process) throws(Failure) -> Editor {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }
    let kind = environment["TERM"] ?? ""
    let isDumb = kind.isEmpty || kind == "dumb"
    if let command = (isDumb ? nil : value("VISUAL")) ?? value("EDITOR") ?? value("VISUAL") {
      return Editor(command: command)
    }
    for name in ["nano", "vi"] where Pager.isThere(name, in: environment) {
      guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, !isDumb else {
        throw Failure(
          .failed, "no_terminal", "\(name) needs a terminal",
          hint: "set EDITOR to an editor that needs no terminal, "
            + "or write the file and run 'notes save'")
      }
      return Editor(command: name)
    }
    throw Failure(
      .failed, "no_editor", "there is no editor",
      hint: "set VISUAL or EDITOR to your editor")
  }

  func edit(_ files: [[UInt8]]) throws(Failure) {
    let ending: ChildProcess.Ending
    do {
      ending = try TerminalProgram.run(
        command + " \"$@\"", words: [Array(command.utf8)] + files)
    } catch {
      throw Failure(
        .failed, "no_editor", "the editor cannot be started: \(String(errorNumber: error.errno))",
        hint: Self.remedy)
    }
    guard let what = ending.failure else { return }
    if ending.isMissing {
      throw Failure(
        .failed, "no_editor", "the editor '\(Visible.name(command))' cannot be started",
        hint: Self.remedy)
    }
    throw Failure(
      .failed, "editor_failed", "the editor '\(Visible.name(command))' \(what)",
      hint:
        "no version was made; the editor's text is in the folder, and 'notes save' makes a version of it"
    )
  }

  private static let remedy = "set VISUAL or EDITOR to one that is installed"
}

/// Runs a user's command line that uses the terminal.
enum TerminalProgram {
  /// Runs the command line with the shell, and restores the terminal if a signal ended it.
  ///
  /// - Parameters:
  ///   - words: $0, $1 and so on of the command line.
  ///   - variables: `NAME=VALUE` to add to this process's environment.
  static func run(
    _ command: String, words: [[UInt8]] = [], variables: [[UInt8]] = []
  ) throws(SystemCallError) -> ChildProcess.Ending {
    Output.standard.flush()
    Output.errors.flush()
    var terminal = termios()
    let hasTerminal = tcgetattr(STDIN_FILENO, &terminal) == 0
    // Ctrl-C is for the program while it runs.
    let (interrupt, quit) = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
    defer {
      signal(SIGINT, interrupt)
      signal(SIGQUIT, quit)
    }
    let program = try ChildProcess(
      "/bin/sh", arguments: ChildProcess.shell(command, words), variables: variables,
      defaultSignals: [SIGINT, SIGQUIT])
    guard let ending = program.wait() else { throw .system(call: "waitpid", errno: ECHILD) }
    if ending.signal != nil, hasTerminal { tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal) }
    return ending
  }
}

extension ChildProcess.Ending {
  /// The signal that ended it; a shell in between turns it into a status above 128.
  fileprivate var signal: Int32? {
    switch self {
    case .killed(let number): number
    case .exited(let status): status > 128 ? status & 0x7f : nil
    }
  }

  /// Whether sh(1) reports that the program does not exist, or cannot be run.
  var isMissing: Bool { self == .exited(126) || self == .exited(127) }

  /// The kind of failure; nil for success.
  var failure: String? {
    if let signal { return "was killed by signal \(signal)" }
    guard case .exited(let status) = self, status != 0 else { return nil }
    return "ended with status \(status)"
  }
}

struct Pager {
  private let process: ChildProcess

  /// $NOTES_PAGER, $PAGER, or less; nil for no pager, if the value is empty or `cat`.
  static func command(in environment: Environment) -> String? {
    let command = environment["NOTES_PAGER"] ?? environment["PAGER"] ?? "less"
    return command.isEmpty || command == "cat" ? nil : command
  }

  /// Whether the shell would find the program at the beginning of a command line. If the first word
  /// is not plain, the answer is yes.
  static func isThere(_ command: String, in environment: Environment) -> Bool {
    let word = String(command.prefix { $0 != " " })
    let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._+-".contains($0) }
    guard isPlain, word != "exec", word != "command" else { return true }
    if word.contains("/") { return Counted.access(word, X_OK) == 0 }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").contains { Counted.access("\($0)/\(word)", X_OK) == 0 }
  }

  /// Nil if standard output is not a terminal, if no pager is wanted, or if it does not start.
  static func start(environment: Environment = .process) -> Pager? {
    // Width and colour are the terminal's, so they are read before the pipe replaces it.
    guard Console.output.isInteractive, let command = command(in: environment) else { return nil }
    guard isThere(command, in: environment) else {
      if command != "less" { warn(of: command, "was not found") }
      return nil
    }
    // Without a pager the text goes to the terminal.
    guard let pipe = try? Pipe() else { return nil }
    // -F: quit if it fits one screen; -R: pass colours on; -X: leave the text on the screen.
    if environment["LESS"] == nil { setenv("LESS", "FRX", 1) }
    if environment["LV"] == nil { setenv("LV", "-c", 1) }
    let process: ChildProcess
    do {
      process = try ChildProcess(
        "/bin/sh", arguments: ChildProcess.shell(command), input: .descriptor(pipe.readEnd))
    } catch {
      warn(of: command, "cannot be started: \(String(errorNumber: error.errno))")
      return nil
    }
    // If a person quits the pager early, writes to it fail, which does no harm.
    signal(SIGPIPE, SIG_IGN)
    // Ctrl-C is for the pager: less(1) stops reading and continues to run.
    signal(SIGINT, SIG_IGN)
    dup2(pipe.writeEnd, STDOUT_FILENO)
    return Pager(process: process)
  }

  func finish() {
    Output.standard.flush()
    close(STDOUT_FILENO)
    process.wait()
    signal(SIGINT, SIG_DFL)
  }

  private static func warn(of command: String, _ what: String) {
    let shown = Width.cut(Visible.name(command), to: 60)
    Output.errors.line("notes: warning: the pager '\(shown)' \(what)")
    Output.errors.flush()
  }
}
