internal import Glibc

/// A process that outlives this one by an instant, to put the terminal back where this one was killed
/// and could not.
///
/// It is a shell that waits for the end of a pipe, and has heard by then whether the terminal was
/// taken.
final class TerminalGuard {
  private let orders: (reading: Int32, writing: Int32)

  /// The signals of a terminal's user are for the others of the job.
  private static let script = """
    trap '' INT QUIT HUP TERM TSTP TTIN TTOU
    saved=$(stty -g) || exit
    echo >&4
    exec 4>&-
    while read -r said <&3; do state=$said; done
    [ "$state" = taken ] && printf '%s' "$0" && stty "$saved"
    """

  /// How long the shell may take to begin, in milliseconds; after that the terminal goes unguarded.
  private static let patience: Int32 = 500

  /// - Parameter end: what puts the terminal's screen back.
  init?(end: String) {
    var orders: [Int32] = [-1, -1]
    var answers: [Int32] = [-1, -1]
    guard pipe(&orders) == 0 else { return nil }
    guard pipe(&answers) == 0 else {
      for descriptor in orders { close(descriptor) }
      return nil
    }
    for descriptor in orders + answers { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    // The end to read from stays open here, too: where the shell is gone, writing is no mistake.
    self.orders = (orders[0], orders[1])
    let isStarted = Self.start(end, orders: orders[0], answers: answers[1])
    close(answers[1])
    var entry = pollfd(fd: answers[0], events: Int16(POLLIN), revents: 0)
    if isStarted { _ = poll(&entry, 1, Self.patience) }
    close(answers[0])
    if !isStarted { return nil }
  }

  deinit {
    close(orders.reading)
    close(orders.writing)
  }

  /// Where `taken` or `free` is written, a line each.
  var descriptor: Int32 { orders.writing }

  private static func start(_ end: String, orders: Int32, answers: Int32) -> Bool {
    // Out of the way of the two places that the shell has them at.
    let sources = [orders, answers].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
    defer { for source in sources { close(source) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, sources[0], 3)
    posix_spawn_file_actions_adddup2(&actions, sources[1], 4)
    let words: [String] = ["sh", "-c", Self.script, end]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    return posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ) == 0
  }
}
