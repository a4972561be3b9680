internal import Glibc

/// The program that shows long output page by page, as git does it.
struct Pager {
  private let process: pid_t

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
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    // -F: quit if it fits one screen; -R: pass colours on; -X: leave the text on the screen.
    if environment["LESS"] == nil { setenv("LESS", "FRX", 1) }
    if environment["LV"] == nil { setenv("LV", "-c", 1) }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[1])
    var process: pid_t = 0
    let failure = spawn(["sh", "-c", command], actions: &actions, as: &process)
    guard failure == 0 else {
      close(ends[1])
      warn(of: command, "cannot be started: \(Failure.reason(failure))")
      return nil
    }
    // Who leaves the pager has read enough: writing to it fails then, and nothing is lost.
    signal(SIGPIPE, SIG_IGN)
    // Ctrl-C is the pager's business: less(1) stops reading and stays.
    signal(SIGINT, SIG_IGN)
    dup2(ends[1], STDOUT_FILENO)
    close(ends[1])
    return Pager(process: process)
  }

  /// Ends the pager's input and waits until the reader has left it.
  func finish() {
    Output.standard.flush()
    close(STDOUT_FILENO)
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1, errno == EINTR {}
    signal(SIGINT, SIG_DFL)
  }

  /// The output comes without the pager then.
  private static func warn(of command: String, _ what: String) {
    let shown = Width.cut(Visible.name(command), to: 60)
    Output.errors.line("notes: warning: the pager '\(shown)' \(what)")
    Output.errors.flush()
  }

  /// Starts the shell; returns what went wrong, or 0.
  private static func spawn(
    _ arguments: [String], actions: inout posix_spawn_file_actions_t, as process: inout pid_t
  ) -> Int32 {
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    defer { pointers.forEach { free($0) } }
    return posix_spawn(&process, "/bin/sh", &actions, nil, &pointers, environ)
  }
}
