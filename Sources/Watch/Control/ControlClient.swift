public import Channel
internal import FoundationEssentials
internal import Glibc
internal import Sync

/// A command's connection to the watcher of a notebook.
///
/// Sendable although its lines are not: they belong to the thread that asks, and `hangUp` touches the
/// descriptor alone.
public final class ControlClient: @unchecked Sendable {
  private let lines: ControlLines

  private init(_ lines: ControlLines) { self.lines = lines }

  /// Connects to the watcher of a notebook; nil when none runs.
  ///
  /// - Parameter folder: where this user's sockets are, or nil where the system has no such place.
  public static func connect(
    in folder: String?, notebookID: String, deviceID: String
  ) -> ControlClient? {
    guard let folder else { return nil }
    let path = ControlSocket.path(in: folder, notebookID: notebookID, deviceID: deviceID)
    guard let descriptor = try? ControlSocket.connect(to: path) else { return nil }
    return ControlClient(ControlLines(takingOwnership: descriptor))
  }

  /// Asks. False when the watcher has gone.
  public func ask(_ request: ControlRequest) -> Bool {
    guard let data = try? JSONEncoder().encode(request) else { return false }
    return lines.send(Array(data))
  }

  /// The next line of the answer; nil when the watcher has gone, or said nothing for so many seconds.
  public func next(within seconds: Double = 60) -> ControlReply? {
    guard let line = lines.next(within: seconds) else { return nil }
    return try? ReceivedJSON.decode(ControlReply.self, from: line)
  }

  /// The next line, however long it takes; nil when the watcher has gone or `token` is cancelled.
  public func next(orUntil token: CancellationToken) -> ControlReply? {
    guard let line = lines.next(within: 86_400, token) else { return nil }
    return try? ReceivedJSON.decode(ControlReply.self, from: line)
  }

  /// Ends what was asked for: whoever waits for the next line gets none. From any thread.
  func hangUp() { shutdown(lines.descriptor, Int32(SHUT_RDWR)) }

  /// All lines of an answer, its last one included.
  public func all(_ request: ControlRequest, within seconds: Double = 60) -> [ControlReply] {
    guard ask(request) else { return [] }
    var found: [ControlReply] = []
    while let reply = next(within: seconds) {
      found.append(reply)
      if reply.type == "done" || reply.type == "error" { break }
    }
    return found
  }
}
