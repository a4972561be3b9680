public import Git
internal import Glibc
public import Logging
internal import Sync
internal import Synchronization

/// Runs the user's own commands when something arrived: notes-watch(1), HOOKS. They run beside the
/// service, which never waits for them.
public final class Hooks: Sendable {
  /// What a command is told, in its environment.
  public struct Occasion: Sendable {
    public var event: String
    public var folder: String
    public var paths: [TreePath]
    /// The device that it came from.
    public var device: String

    public init(event: String, folder: String, paths: [TreePath], device: String) {
      self.event = event
      self.folder = folder
      self.paths = paths
      self.device = device
    }
  }

  private let logger: Logger
  private let running = Mutex(0)

  /// How many commands run at once; what comes when there are as many is passed over.
  static let width = 4
  /// How long a command may run, in seconds.
  static let limit = 30.0
  /// How many bytes of paths a command is told at most.
  static let pathBytes = 64 << 10

  public init(logger: Logger) { self.logger = logger }

  /// Starts a command of the shell, on a thread that waits for it.
  public func run(_ command: String, on occasion: Occasion) {
    let hasRoom = running.withLock { count in
      guard count < Self.width else { return false }
      count += 1
      return true
    }
    guard hasRoom else {
      logger.warning("hook passed over: \(Self.width) are running")
      return
    }
    do {
      try startThread { [self] in
        if let trouble = Self.perform(command, occasion) { logger.warning("hook: \(trouble)") }
        running.withLock { $0 -= 1 }
      }
    } catch {
      running.withLock { $0 -= 1 }
    }
  }

  /// Runs a command to its end, or ends it; says what went wrong.
  static func perform(_ command: String, _ occasion: Occasion, limit: Double = limit) -> String? {
    var paths: [UInt8] = []
    for path in occasion.paths where paths.count + path.bytes.count < pathBytes {
      if !paths.isEmpty { paths.append(10) }
      paths += path.bytes.filter { $0 != 0 }
    }
    var environment: [[UInt8]] = []
    var entry = environ
    while let text = entry.pointee {
      environment.append(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
      entry += 1
    }
    environment += [
      Array("NOTES_EVENT=\(occasion.event)".utf8), Array("NOTES_NOTEBOOK=\(occasion.folder)".utf8),
      Array("NOTES_DEVICE=\(occasion.device)".utf8), Array("NOTES_PATHS=".utf8) + paths,
    ]
    let line: [String] = ["/bin/sh", "-c", command]
    var words: [UnsafeMutablePointer<CChar>?] = line.map { (word: String) in strdup(word) }
    words.append(nil)
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { (bytes: [UInt8]) in
      strdup(bytes.map { CChar(bitPattern: $0) } + [0])
    }
    variables.append(nil)
    defer { for word in words + variables { free(word) } }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return "cannot be started" }
    defer { posix_spawn_file_actions_destroy(&actions) }
    guard posix_spawnattr_init(&attributes) == 0 else { return "cannot be started" }
    defer { posix_spawnattr_destroy(&attributes) }
    // Standard output is the service's own.
    _ = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    _ = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    _ = posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    _ = posix_spawnattr_setpgroup(&attributes, 0)
    var child = pid_t()
    let status = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, variables)
    guard status == 0 else { return "cannot be started: error \(status)" }
    return wait(for: child, limit: limit)
  }

  private static func wait(for child: pid_t, limit: Double) -> String? {
    let end = Moment.now + limit
    var status: Int32 = 0
    var pause: useconds_t = 2_000
    while true {
      let found = waitpid(child, &status, WNOHANG)
      if found == child { break }
      if found < 0 && errno != EINTR { return nil }
      if Moment.now >= end {
        kill(-child, SIGKILL)
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return "ended after \(Int(limit)) s"
      }
      usleep(pause)
      pause = min(pause * 2, 200_000)
    }
    return status == 0 ? nil : "ended with status \(status >> 8 & 0xff)"
  }
}
