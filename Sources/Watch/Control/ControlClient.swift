public import Exchange
public import Membership

/// A command's connection to the watcher of a notebook, for one thread at a time.
public final class ControlClient: Sendable {
  private let lines: ControlLines

  private init(_ lines: ControlLines) { self.lines = lines }

  /// Connects to the watcher of a notebook; nil when none runs, or the system has no folder for this
  /// user's sockets.
  public static func connect(
    in folder: String?, notebookID: String, deviceID: String
  ) -> ControlClient? {
    guard let folder else { return nil }
    let path = ControlSocket.path(in: folder, notebookID: notebookID, deviceID: deviceID)
    // If nobody answers there is no watcher.
    return (try? ControlSocket.connect(to: path)).map { ControlClient($0) }
  }

  /// Asks. False when the watcher has gone.
  public func ask(_ request: ControlRequest) -> Bool {
    lines.send(ControlQuestion(request: request))
  }

  /// The next reply that is known here; nil when the watcher has gone, said nothing for so many
  /// seconds, or `token` was cancelled.
  public func next(
    within seconds: Double = 60, orUntil token: CancellationToken? = nil
  ) -> ControlReply? {
    while let line = lines.next(within: seconds, token) {
      // A line of a later release is passed over.
      let reply = try? ReceivedJSON.decode(ControlReply.self, from: line, snakeCase: true)
      if let reply { return reply }
    }
    return nil
  }

  /// All replies before the last; nil when the watcher refuses, or does not answer in time.
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

  /// How the watcher is and who is connected to it; nil when it does not answer in time.
  public func status(within seconds: Double) -> WatcherStatus? {
    all(.peers, within: seconds).flatMap(WatcherStatus.init)
  }

  /// Lets the watcher save everything and waits until the devices that are connected have it. Returns
  /// what was exchanged with each since `before`; nil when the watcher does not answer.
  public func synchronize(within seconds: Double, since before: WatcherStatus) -> [SessionResult]? {
    let replies = all(.sync(seconds: seconds), within: seconds + 5)
    guard let now = replies.flatMap(WatcherStatus.init) else { return nil }
    return now.peers.map { peer, shows in
      // A session that began meanwhile counts whole.
      let former = before.peers.first {
        $0.identity.deviceID == peer.deviceID && $0.shows.sentBytes <= shows.sentBytes
      }?.shows
      return SessionResult(
        peer: peer, shows: shows, since: former ?? PeerState(), tip: now.watcher.tip)
    }
  }

  /// Lets the watcher tell a device of an invitation to another notebook, for as long as this
  /// connection lasts. False when no session with the device begins within `seconds`; the device
  /// is told all the same when one begins later.
  public func offer(_ invitation: CarriedInvitation, within seconds: Double) -> Bool {
    guard ask(.offer(invitation: invitation)), case .told? = next(within: seconds) else {
      return false
    }
    return true
  }

  /// Lets the watcher open an invitation, meant for `invitee` or anybody, and waits until it has ended or
  /// `token` is cancelled. It ends with this connection at the latest. `onEvent` is called on this
  /// thread. Throws `WatchError.watcherRefused` with its reason, or `.watcherGone`.
  public func invite(
    role: Role, seconds: Double, for invitee: Member? = nil,
    cancellation token: CancellationToken, onEvent: (Event) -> Void
  ) throws {
    let request = ControlRequest.invite(
      role: role, seconds: seconds, name: invitee?.name, device: invitee?.deviceID)
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
