internal import Glibc
internal import System

struct Pager {
  private let process: ChildProcess

  /// The command line to run: $NOTES_PAGER, $PAGER, or less; nil where output goes on unpaged,
  /// which an empty value and `cat` ask for.
  static func command(in environment: Environment) -> String? {
    let command = environment["NOTES_PAGER"] ?? environment["PAGER"] ?? "less"
    return command.isEmpty || command == "cat" ? nil : command
  }

  /// Whether the shell would find the program that a command line begins with. What is no plain word
  /// is the shell's to judge.
  static func isThere(_ command: String, in environment: Environment) -> Bool {
    let word = String(command.prefix { $0 != " " })
    let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._+-".contains($0) }
    guard isPlain, word != "exec", word != "command" else { return true }
    if word.contains("/") { return access(word, X_OK) == 0 }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").contains { access("\($0)/\(word)", X_OK) == 0 }
  }

  /// Sends standard output through the pager if a terminal reads it; nil where there is no
  /// terminal, no pager is wanted, or it does not start.
  static func start(environment: Environment = .process) -> Pager? {
    // Width and colour are the terminal's, so they are asked for before the pipe takes its place.
    guard Console.output.isInteractive, let command = command(in: environment) else { return nil }
    guard isThere(command, in: environment) else {
      if command != "less" { warn(of: command, "was not found") }
      return nil
    }
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
    // Who leaves the pager has read enough: writing to it fails then, and nothing is lost.
    signal(SIGPIPE, SIG_IGN)
    // Ctrl-C is the pager's business: less(1) stops reading and stays.
    signal(SIGINT, SIG_IGN)
    dup2(pipe.writeEnd, STDOUT_FILENO)
    return Pager(process: process)
  }

  /// Ends the pager's input and waits until the reader has left it.
  func finish() {
    Output.standard.flush()
    close(STDOUT_FILENO)
    process.wait()
    signal(SIGINT, SIG_DFL)
  }

  /// The output comes without the pager then.
  private static func warn(of command: String, _ what: String) {
    let shown = Width.cut(Visible.name(command), to: 60)
    Output.errors.line("notes: warning: the pager '\(shown)' \(what)")
    Output.errors.flush()
  }
}
