package import Git
package import Logging
internal import Synchronization
internal import System

/// Runs the user's own commands after an event: notes-watch(1), HOOKS. They run in parallel to the
/// service, which never waits for them.
public final class Hooks: Sendable {
  /// The environment of a hook's command.
  public struct Occasion: Sendable {
    package var event: String
    package var folder: String
    package var paths: [TreePath]
    /// The device that sent the changes.
    public var device: String

    package init(event: String, folder: String, paths: [TreePath], device: String) {
      self.event = event
      self.folder = folder
      self.paths = paths
      self.device = device
    }
  }

  private let logger: Logger
  private let commands = LimitedThreads(width: width)

  /// How many commands can run at once. While this many run, events run no command.
  static let width = 4
  /// How long a hook may run, in seconds.
  static let limit = 30.0
  static let pathBytes = 64 << 10

  package init(logger: Logger) { self.logger = logger }

  /// Starts a shell command, on a thread that waits for its end.
  public func run(_ command: String, on occasion: Occasion) {
    let hasRoom = commands.start { [logger] in
      if let trouble = Self.perform(command, occasion) { logger.warning("hook: \(trouble)") }
    }
    if !hasRoom { logger.warning("hook skipped: \(Self.width) are running") }
  }

  /// Runs a command to its end, or kills it at the limit; returns the error, if any.
  static func perform(_ command: String, _ occasion: Occasion, limit: Double = limit) -> String? {
    var paths: [UInt8] = []
    for path in occasion.paths where paths.count + path.bytes.count < pathBytes {
      if !paths.isEmpty { paths.append(10) }
      paths += path.bytes.filter { $0 != 0 }
    }
    let variables = [
      Array("NOTES_EVENT=\(occasion.event)".utf8), Array("NOTES_NOTEBOOK=\(occasion.folder)".utf8),
      Array("NOTES_DEVICE=\(occasion.device)".utf8), Array("NOTES_PATHS=".utf8) + paths,
    ]
    let child: ChildProcess
    do {
      // Standard output belongs to the service.
      child = try ChildProcess(
        "/bin/sh", arguments: ChildProcess.shell(command), variables: variables, input: .null,
        output: .null, group: .own)
    } catch {
      return "cannot be started: error \(error.errno)"
    }
    switch child.wait(until: .now + limit) {
    case .exited(0): return nil
    case .exited(let code): return "ended with status \(code)"
    case .killed(let signal): return "was killed by signal \(signal)"
    case nil:
      child.killGroup()
      return "ended after \(Int(limit)) s"
    }
  }
}

/// Threads with a limit on how many run at once.
final class LimitedThreads: Sendable {
  private let width: Int
  private let running = Mutex(0)

  init(width: Int) { self.width = width }

  /// Runs `body` on a thread of its own, if the system can start one; false if the limit is
  /// reached.
  func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let hasRoom = running.withLock { count in
      guard count < width else { return false }
      count += 1
      return true
    }
    guard hasRoom else { return false }
    let leave = { @Sendable [self] in running.withLock { $0 -= 1 } }
    do {
      try startThread {
        body()
        leave()
      }
    } catch {
      leave()
    }
    return true
  }
}
