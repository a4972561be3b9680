internal import Exchange
internal import Glibc
internal import Membership
internal import Synchronization
internal import System

/// Listens for commands that need a running watcher, and answers each on a thread of its own:
/// notes-control(7).
final class ControlServer: Sendable {
  let service: Service
  let port: UInt16
  private let stopping: WakeUp
  private let ended = BlockingQueue<Bool>()
  private let followers = Mutex<[Follower]>([])
  private let clients = LimitedThreads(width: 32)

  /// The events for a command that follows them.
  typealias Follower = PolledQueue<Event>

  /// How many events are kept for a command that does not read its answer.
  private static let capacity = 1_024
  /// How long a command may take to send its request, in seconds.
  private static let patience = 5.0

  init(_ service: Service, port: UInt16, in folder: String) throws {
    self.service = service
    self.port = port
    stopping = try WakeUp()
    let sockets = try service.watched.values.map { notebook in
      let path = ControlSocket.path(
        in: folder, notebookID: notebook.notebookID, deviceID: notebook.context.key.deviceID)
      return (try ControlSocket(at: path), notebook)
    }
    try startThread { [self] in
      accept(from: sockets)
      ended.put(true)
    }
  }

  func stop() {
    stopping.signal()
    _ = ended.take(until: .now + 2)
  }

  func send(_ event: Event) {
    for follower in followers.withLock({ $0 }) { follower.put(event) }
  }

  func following(_ body: (Follower) throws -> Void) throws {
    let follower = try Follower(capacity: Self.capacity)
    followers.withLock { $0.append(follower) }
    defer { followers.withLock { $0.removeAll { $0 === follower } } }
    try body(follower)
  }

  /// Waits until an event has arrived, or until `deadline`. False if the command has ended or the watcher
  /// stops.
  func wait(_ follower: Follower, for lines: ControlLines, until deadline: Instant?) -> Bool {
    let ends = [lines.descriptor, stopping.descriptor]
    let ready = Poll.wait(for: [follower.bell.descriptor] + ends, until: deadline ?? .never)
    // A waiting command sends nothing more: if the socket is readable, it was closed.
    return ready.allSatisfy { $0 == follower.bell.descriptor }
  }

  private func accept(from sockets: [(ControlSocket, WatchedNotebook)]) {
    while true {
      let ready = Poll.wait(for: [stopping.descriptor] + sockets.map(\.0.descriptor))
      if ready.contains(stopping.descriptor) { return }
      for (socket, notebook) in sockets where ready.contains(socket.descriptor) {
        guard let lines = socket.accept() else { continue }
        let answer = ControlAnswer(server: self, lines: lines, notebook: notebook)
        _ = clients.start { answer.give(within: Self.patience) }
      }
    }
  }
}
