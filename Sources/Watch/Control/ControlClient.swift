public import Exchange
public import Membership

/// A command's connection to the watcher of a notebook, for one thread at a time.
public final class ControlClient: Sendable {
  private let lines: ControlLines

  private init(_ lines: ControlLines) { self.lines = lines }

  /// Connects to the watcher of a notebook; nil if no watcher runs, or if the system has no folder
  /// for this user's sockets.
  public static func connect(
    in folder: String?, notebookID: String, deviceID: String
  ) -> ControlClient? {
    guard let folder else { return nil }
    let path = ControlSocket.path(in: folder, notebookID: notebookID, deviceID: deviceID)
    // If nobody answers, there is no watcher.
    return (try? ControlSocket.connect(to: path)).map { ControlClient($0) }
  }

  /// Sends a request; returns false if the watcher has ended.
  public func ask(_ request: ControlRequest) -> Bool {
    lines.send(ControlQuestion(request: request))
  }

  /// The next known reply. Nil if the watcher has ended, if it sent nothing for `seconds`, or if `token` was
  /// cancelled.
  public func next(
    within seconds: Double = 60, orUntil token: CancellationToken? = nil
  ) -> ControlReply? {
    while let line = lines.next(within: seconds, token) {
      // A reply of a later release is ignored.
      let reply = try? ReceivedJSON.decode(ControlReply.self, from: line, snakeCase: true)
      if let reply { return reply }
    }
    return nil
  }

  /// All replies before the last; nil if the watcher refuses, or does not answer in time.
  public func all(_ request: ControlRequest, within seconds: Double = 60) -> [ControlReply]? {
    guard ask(request) else { return nil }
    var found: [ControlReply] = []
    while let reply = next(within: seconds) {
      if case .done = reply { return found }
      if case .error = reply { return nil }
      found.append(reply)
    }
    return nil
  }

  /// The watcher's state and the devices connected to it; nil if it does not answer in time.
  public func status(within seconds: Double) -> WatcherStatus? {
    all(.peers, within: seconds).flatMap(WatcherStatus.init)
  }

  /// Makes the watcher save everything, and waits until the connected devices have it. Returns the
  /// exchanges with each device since `before`; nil if the watcher does not answer.
  public func synchronize(within seconds: Double, since before: WatcherStatus) -> [SessionResult]? {
    let replies = all(.sync(seconds: seconds), within: seconds + 5)
    guard let now = replies.flatMap(WatcherStatus.init) else { return nil }
    return now.peers.map { peer, shows in
      // A session that began in between counts completely.
      let former = before.peers.first {
        $0.identity.deviceID == peer.deviceID && $0.shows.sentBytes <= shows.sentBytes
      }?.shows
      return SessionResult(
        peer: peer, shows: shows, since: former ?? PeerState(), tip: now.watcher.tip)
    }
  }

  /// Makes the watcher tell a device of an invitation to another notebook, as long as this
  /// connection lasts. False if no session with the device begins within `seconds`; the device is
  /// still told if one begins later.
  public func offer(_ invitation: CarriedInvitation, within seconds: Double) -> Bool {
    guard ask(.offer(invitation: invitation)), case .told? = next(within: seconds) else {
      return false
    }
    return true
  }

  /// Makes the watcher open an invitation for each of `people`, and waits until all have ended or `token` is
  /// cancelled. A single one may be meant for `invitee`, others are for anybody. They end with this connection
  /// at the latest. Calls `onEvent` on this thread. Throws `WatchError.watcherRefused` with the reason, or
  /// `.watcherGone`.
  public func invite(
    role: Role, people: [InvitedPerson] = [.unnamed], seconds: Double, for invitee: Member? = nil,
    cancellation token: CancellationToken, onEvent: (Event) -> Void
  ) throws {
    let request =
      switch people {
      case [.unnamed]:
        ControlRequest.invite(
          role: role, seconds: seconds, name: invitee?.name, device: invitee?.deviceID)
      case [.own]:
        ControlRequest.inviteMine(
          role: role, seconds: seconds, name: invitee?.name, device: invitee?.deviceID)
      default:
        ControlRequest.inviteSeveral(
          role: role, seconds: seconds, count: people.count, mine: people.contains(.own),
          names: people.compactMap(\.name))
      }
    guard ask(request) else { throw WatchError.watcherGone }
    while let reply = next(within: 86_400, orUntil: token) {
      switch reply {
      case .event(let event): onEvent(event)
      case .done: return
      case .error(let reason): throw WatchError.watcherRefused(reason)
      default: continue
      }
    }
    if !token.isCancelled { throw WatchError.watcherGone }
  }
}
