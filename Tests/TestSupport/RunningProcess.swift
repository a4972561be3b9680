public import Glibc
internal import Synchronization

/// How a process ended.
public enum ExitStatus: Hashable, Sendable {
  case exited(Int32)
  case signalled(Int32)
}

/// What a process wrote, and how it ended.
public struct ProcessResult: Sendable, CustomStringConvertible {
  public let command: [String]
  public let status: ExitStatus
  /// Standard output.
  public let output: [UInt8]
  /// Standard error.
  public let errors: [UInt8]

  /// Whether it exited with 0.
  public var isSuccess: Bool { status == .exited(0) }
  /// Standard output as text.
  public var text: String { String(decoding: output, as: UTF8.self) }
  /// Standard error as text.
  public var errorText: String { String(decoding: errors, as: UTF8.self) }
  /// The lines of standard output.
  public var lines: [String] { text.split(separator: "\n").map(String.init) }

  public var description: String {
    "$ \(command.joined(separator: " "))\n\(text)\(errorText)[\(status)]"
  }
}

/// A process that did not do what was waited for in time, with what it wrote until then.
public struct ProcessTimeout: Error, CustomStringConvertible {
  public let description: String
}

/// Runs a program to its end. It is killed, and `ProcessTimeout` thrown, after `seconds`.
public func run(
  _ command: [String], in folder: String? = nil, environment: [String: String]? = nil,
  input: [UInt8] = [], within seconds: Double = 180
) throws -> ProcessResult {
  let process = try RunningProcess(command, in: folder, environment: environment)
  if !input.isEmpty { process.write(input) }
  process.closeInput()
  return try process.wait(within: seconds)
}

/// A program that runs while the test goes on. Its pipes are read all the time. It and the processes
/// of its group are killed when the value goes away.
public final class RunningProcess: Sendable {
  public let command: [String]
  public let pid: pid_t

  private let input: OpenFile
  /// The pipes that are read, to ask whether anything is left in them.
  private let pipes: [OpenFile]
  private let output = EventLog<String>()
  private let errors = EventLog<String>()
  private let bytes: CollectedBytes
  private let ended = EventLog<ExitStatus>()

  /// Starts a program, found by PATH, in a process group of its own.
  public init(
    _ command: [String], in folder: String? = nil, environment: [String: String]? = nil
  ) throws {
    self.command = command
    let child = try SpawnedChild.spawn(command, in: folder, environment: environment)
    pid = child.pid
    Self.running.withLock { _ = $0.insert(child.pid) }
    _ = Self.killedAtExit
    input = OpenFile(child.input)
    bytes = CollectedBytes()
    pipes = [child.output, child.errors].map { OpenFile(fcntl($0, F_DUPFD_CLOEXEC, 0)) }
    let (output, errors, bytes, ended) = (output, errors, bytes, ended)
    startThread {
      LineReader.read(child.output, into: output) { bytes.appendOutput($0) }
      output.close()
    }
    startThread {
      LineReader.read(child.errors, into: errors) { bytes.appendErrors($0) }
      errors.close()
    }
    startThread {
      var status: Int32 = 0
      while waitpid(child.pid, &status, 0) < 0 && errno == EINTR {}
      let signal = status & 0x7f
      Self.running.withLock { _ = $0.remove(child.pid) }
      ended.append(signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal))
    }
  }

  deinit {
    if ended.all.isEmpty { kill(-pid, SIGKILL) }
  }

  private static let running = Mutex(Set<pid_t>())

  /// What lives as long as the program has no end of its own.
  private static let killedAtExit = atexit {
    for pid in RunningProcess.running.withLock({ $0 }) { kill(-pid, SIGKILL) }
  }

  /// The next line of standard output for which `matches`, without its end; those before it are
  /// passed over. Throws when it does not come within `seconds`.
  public func line(
    within seconds: Double = 80, where matches: (String) -> Bool = { _ in true }
  ) throws -> String {
    guard let line = output.next(within: seconds, where: matches) else { throw timeout("a line") }
    return line
  }

  /// As `line`, on standard error.
  public func errorLine(
    within seconds: Double = 80, where matches: (String) -> Bool = { _ in true }
  ) throws -> String {
    guard let line = errors.next(within: seconds, where: matches) else {
      throw timeout("a line on standard error")
    }
    return line
  }

  /// Writes to standard input.
  public func write(_ bytes: [UInt8]) { input.write(bytes) }

  /// Writes a line to standard input.
  public func writeLine(_ line: String) { write(Array("\(line)\n".utf8)) }

  /// Ends standard input.
  public func closeInput() { input.close() }

  /// Sends a signal to the process and the others of its group.
  public func send(_ signal: Int32) { kill(-pid, signal) }

  /// Whether it has not ended yet.
  public var isRunning: Bool { ended.all.isEmpty }

  /// Waits for the end; kills it and throws `ProcessTimeout` after `seconds`.
  @discardableResult
  public func wait(within seconds: Double = 180) throws -> ProcessResult {
    guard ended.wait(within: seconds, until: { !$0.isEmpty }), let status = ended.all.first else {
      let error = timeout("its end")
      kill(-pid, SIGKILL)
      throw error
    }
    // What it wrote is in the pipes; a process it left behind may hold them open for longer.
    let end = Moment.now + 120
    for (log, pipe) in zip([output, errors], pipes) {
      while !log.waitUntilClosed(within: 2), pipe.hasMore, Moment.now < end {}
    }
    return result(status)
  }

  /// Sends SIGTERM and waits for the end.
  @discardableResult
  public func terminate(within seconds: Double = 80) throws -> ProcessResult {
    send(SIGTERM)
    return try wait(within: seconds)
  }

  private func result(_ status: ExitStatus) -> ProcessResult {
    ProcessResult(
      command: command, status: status, output: bytes.output, errors: bytes.errors)
  }

  private func timeout(_ what: String) -> ProcessTimeout {
    let text = String(decoding: bytes.output + bytes.errors, as: UTF8.self)
    let end = ended.all.first.map { "\($0)" } ?? "still running"
    return ProcessTimeout(
      description: "waited in vain for \(what) of: \(command.joined(separator: " "))"
        + " [\(end)]\n\(text)")
  }
}
