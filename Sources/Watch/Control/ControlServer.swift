internal import Glibc
internal import Membership
internal import Sync
internal import Synchronization
internal import System

/// Listens for the commands that want something of a running watcher, each answered on a thread of
/// its own: notes-control(7).
final class ControlServer: Sendable {
  let service: Service
  let port: UInt16
  private let folder: String
  private let stopping: WakeUp
  private let ended = BlockingQueue<Bool>()
  private let state = Mutex(State())

  private struct State: Sendable {
    var isPaused = false
    var clients = 0
    var followers: [Follower] = []
  }

  /// A command that waits for what happens.
  final class Follower: Sendable {
    let bell: WakeUp
    private let events = Mutex<[Event]>([])

    /// How many events are kept for a command that does not read its answer.
    private static let capacity = 1_024

    init() throws { bell = try WakeUp() }

    func tell(_ event: Event) {
      events.withLock { events in
        if events.count == Self.capacity { events.removeFirst() }
        events.append(event)
      }
      bell.signal()
    }

    /// What happened since the last call.
    func take() -> [Event] {
      bell.clear()
      return events.withLock { events in
        defer { events = [] }
        return events
      }
    }
  }

  /// How many commands are answered at once.
  private static let clients = 32
  /// How long a command may take to ask, in seconds.
  private static let patience = 5.0

  init(_ service: Service, port: UInt16, in folder: String) throws {
    self.service = service
    self.port = port
    self.folder = folder
    stopping = try WakeUp()
  }

  /// Whether the user wants no connections.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  func pause(_ value: Bool) {
    state.withLock { $0.isPaused = value }
    service.occurrences.put(.paused(value))
  }

  /// Starts to listen, for each notebook at a socket of its own.
  func start() throws {
    var sockets: [(descriptor: Int32, notebook: WatchedNotebook, path: String)] = []
    do {
      for notebook in service.watched.values {
        let path = ControlSocket.path(
          in: folder, notebookID: notebook.notebookID,
          deviceID: notebook.context.key.deviceID)
        sockets.append((try ControlSocket.listen(at: path), notebook, path))
      }
      try startThread { [self, sockets] in
        serve(sockets)
        for socket in sockets {
          unlink(socket.path)
          close(socket.descriptor)
        }
        ended.put(true)
      }
    } catch {
      for socket in sockets { close(socket.descriptor) }
      throw error
    }
  }

  func stop() {
    stopping.signal()
    _ = ended.take(until: .now + 2)
    for follower in state.withLock({ $0.followers }) { follower.bell.signal() }
  }

  /// Something happened that followers may want to look at.
  func tell(_ event: Event) {
    for follower in state.withLock({ $0.followers }) { follower.tell(event) }
  }

  /// Lets `body` follow what happens.
  func following(_ body: (Follower) throws -> Void) throws {
    let follower = try Follower()
    state.withLock { $0.followers.append(follower) }
    defer { state.withLock { $0.followers.removeAll { $0 === follower } } }
    try body(follower)
  }

  /// Waits until something happened, or `deadline` has come.
  ///
  /// - Returns: false when the command has gone or the watcher stops.
  func wait(_ follower: Follower, for lines: ControlLines, until deadline: Instant?) -> Bool {
    let ends = [lines.descriptor, stopping.descriptor]
    let ready = Poll.wait(for: [follower.bell.descriptor] + ends, until: deadline ?? .never)
    // Whoever waits says nothing more: what can be read is the end.
    return ready.allSatisfy { $0 == follower.bell.descriptor }
  }

  private func serve(
    _ sockets: [(descriptor: Int32, notebook: WatchedNotebook, path: String)]
  ) {
    while true {
      let ready = Poll.wait(for: [stopping.descriptor] + sockets.map(\.descriptor))
      if ready.contains(stopping.descriptor) { return }
      for socket in sockets where ready.contains(socket.descriptor) {
        let descriptor = accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { continue }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        welcome(descriptor, socket.notebook)
      }
    }
  }

  private func welcome(_ descriptor: Int32, _ notebook: WatchedNotebook) {
    let hasRoom = state.withLock { state in
      guard state.clients < Self.clients else { return false }
      state.clients += 1
      return true
    }
    do {
      guard hasRoom, ControlSocket.isOwnUser(descriptor) else { throw SyncError.stopped }
      try startThread { [self] in
        let lines = ControlLines(takingOwnership: descriptor)
        ControlAnswer(self, lines, notebook).give(within: Self.patience)
        state.withLock { $0.clients -= 1 }
      }
    } catch {
      if hasRoom { state.withLock { $0.clients -= 1 } }
      close(descriptor)
    }
  }
}
