public import Glibc

/// A program that was started: posix_spawn(3).
public struct ChildProcess: Sendable {
  /// The process ID.
  public let id: pid_t

  /// The way in which the program ended.
  public enum Ending: Hashable, Sendable {
    /// The process exited with this status.
    case exited(Int32)
    /// A signal killed it.
    case killed(Int32)
  }

  /// The source or target of a standard stream.
  public enum Stream: Sendable {
    /// The stream of this process.
    case inherited
    case null
    /// An open file of this process.
    case descriptor(Int32)
  }

  /// The process group of the program, for signals.
  public enum Group: Sendable {
    /// The program stays in this process's group.
    case inherited
    /// The program gets its own process group.
    case own
    /// The program gets its own session, without a terminal.
    case session
  }

  // POSIX_SPAWN_SETSID, which <spawn.h> defines only with _GNU_SOURCE.
  private static let newSession: Int16 = 0x80

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that is looked up in $PATH.
  ///   - arguments: argv, beginning with the program's name; without NUL bytes.
  ///   - variables: `NAME=VALUE` entries that are added to this process's environment, or replace
  ///     entries in it.
  ///   - withoutVariables: the names of variables that it does not inherit.
  ///   - defaultSignals: signals that get their default action, although this process may ignore them,
  ///     such as SIGXFSZ.
  public init(
    _ program: String, arguments: [[UInt8]], variables: [[UInt8]] = [],
    withoutVariables: Set<String> = [], input: Stream = .inherited, output: Stream = .inherited,
    errors: Stream = .inherited, group: Group = .inherited, defaultSignals: [Int32] = []
  ) throws(SystemCallError) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    guard posix_spawn_file_actions_init(&actions) == 0, posix_spawnattr_init(&attributes) == 0
    else { throw .system(call: "posix_spawn", path: program, errno: ENOMEM) }
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (target, stream) in zip(Int32(0)..., [input, output, errors]) {
      switch stream {
      case .inherited: break
      case .null: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
      case .descriptor(let source): posix_spawn_file_actions_adddup2(&actions, source, target)
      }
    }
    var flags = Int16(POSIX_SPAWN_SETSIGDEF)
    switch group {
    case .inherited: break
    case .own: flags |= Int16(POSIX_SPAWN_SETPGROUP)
    case .session: flags |= Self.newSession
    }
    posix_spawnattr_setflags(&attributes, flags)
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in defaultSignals + [SIGXFSZ] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    func terminated(_ words: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
      words.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    }
    let words = terminated(arguments)
    let own = variables.isEmpty ? [] : terminated(variables)
    defer { for word in words + own { free(word) } }
    let environment = Self.inherited(
      but: withoutVariables.union(variables.map { Self.name(of: $0) }))
    var child = pid_t()
    let status = posix_spawnp(
      &child, program, &actions, &attributes, words, environment + (own.isEmpty ? [nil] : own))
    if status != 0 { throw .system(call: "posix_spawn", path: program, errno: status) }
    id = child
  }

  /// The entries of this process's environment, except those with these names.
  private static func inherited(but left: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
    var environment: [UnsafeMutablePointer<CChar>?] = []
    var entry = environ
    while let text = entry.pointee {
      let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
      if left.isEmpty || !left.contains(name(of: bytes)) { environment.append(text) }
      entry += 1
    }
    return environment
  }

  private static func name(of variable: some Sequence<UInt8>) -> String {
    String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }

  /// Starts a program with arguments that are text.
  public init(
    _ program: String, _ arguments: [String], output: Stream = .inherited
  ) throws(SystemCallError) {
    try self.init(program, arguments: arguments.map { Array($0.utf8) }, output: output)
  }

  /// The arguments with which a shell runs a command line.
  ///
  /// - Parameter words: $0, $1 and so on of the command line.
  public static func shell(_ command: String, _ words: [[UInt8]] = []) -> [[UInt8]] {
    [Array("sh".utf8), Array("-c".utf8), Array(command.utf8)] + words
  }

  /// Waits until the program ends, and returns its status; nil if the system does not report it.
  @discardableResult
  public func wait() -> Ending? { ending(0) }

  /// Waits until the program ends, at most until `deadline`. Nil if it has not ended by then, or if the system does not
  /// report its status.
  public func wait(until deadline: Instant) -> Ending? {
    var pause: useconds_t = 2_000
    while true {
      let ending = ending(WNOHANG)
      if ending != nil || deadline.hasPassed { return ending }
      usleep(pause)
      pause = min(pause * 2, 200_000)
    }
  }

  /// Whether the process has ended. If so, its process ID is free from now on.
  public var hasEnded: Bool { waitpid(id, nil, WNOHANG) != 0 }

  /// Whether there is no such process any more.
  public var isGone: Bool { kill(id, 0) != 0 && errno == ESRCH }

  /// Sends a signal to the process, or to its process group if it has its own.
  public func signal(_ signal: Int32, group: Group = .inherited) {
    if case .inherited = group { kill(id, signal) } else { kill(-id, signal) }
  }

  /// Kills the process and, if it has its own group, the other processes of that group, and waits until the process has
  /// ended.
  public func killGroup() {
    kill(-id, SIGKILL)
    wait()
  }

  private func ending(_ options: Int32) -> Ending? {
    var status: Int32 = 0
    while true {
      let found = waitpid(id, &status, options)
      if found < 0, errno == EINTR { continue }
      if found != id { return nil }
      let signal = status & 0x7f
      return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
    }
  }
}
