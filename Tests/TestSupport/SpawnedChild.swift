internal import Glibc
internal import Synchronization

/// A child process with pipes to its standard streams.
struct SpawnedChild: Sendable {
  let pid: pid_t
  let input: Int32
  let output: Int32
  let errors: Int32

  /// Starts `command`; throws `SystemError` when it cannot be found or started.
  static func spawn(
    _ command: [String], in folder: String?, environment: [String: String]?
  ) throws -> SpawnedChild {
    try oneAtATime.withLock { _ in
      // env(1) changes the folder and becomes the program; posix_spawn's own way is not imported.
      try spawnAlone((folder.map { ["env", "-C", $0] } ?? []) + command, environment)
    }
  }

  /// A pipe of this process that another child inherited in the instant before it is marked as not
  /// to be inherited would never come to its end.
  private static let oneAtATime = Mutex(())

  private static func spawnAlone(
    _ command: [String], _ environment: [String: String]?
  ) throws -> SpawnedChild {
    signal(SIGPIPE, SIG_IGN)
    let (theirInput, input) = try pipe()
    let (output, theirOutput) = try pipe()
    let (errors, theirErrors) = try pipe()
    defer { for file in [theirInput, theirOutput, theirErrors] { close(file) } }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, theirInput, 0)
    posix_spawn_file_actions_adddup2(&actions, theirOutput, 1)
    posix_spawn_file_actions_adddup2(&actions, theirErrors, 2)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, Int16(flags))
    posix_spawnattr_setpgroup(&attributes, 0)
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGINT)
    posix_spawnattr_setsigdefault(&attributes, &signals)

    let arguments = command.map { strdup($0) } + [nil]
    let settings = try environment.map { $0.map { "\($0.key)=\($0.value)" } } ?? inherited()
    let variables = settings.map { strdup($0) } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else {
      for file in [input, output, errors] { close(file) }
      throw SystemError("posix_spawn", command[0], code: code)
    }
    return SpawnedChild(pid: pid, input: input, output: output, errors: errors)
  }

  /// The environment that the test run was started with.
  private static func inherited() throws -> [String] {
    try readFile("/proc/self/environ").split(separator: 0).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
