internal import Logging
internal import Membership
internal import Notebook
internal import Sync

/// One line an event: who, where, what. No text of a note and no secret, and nothing a peer chose
/// that could upset a terminal or fake a line.
struct ServiceLog: Sendable {
  let logger: Logger

  func write(_ event: ServiceEvent) {
    let (level, line) = Self.line(of: event)
    logger.log(level: level, "\(line)")
  }

  private static func line(of event: ServiceEvent) -> (level: Logger.Level, text: String) {
    switch event {
    case .listening(let address, let port): (.info, "listening on \(address) port \(port)")
    case .invitation(let invitation, let port):
      (.info, "\(name(invitation)) for a \(invitation.role.rawValue) is open on port \(port)")
    case .peer(let peer): (.info, "connected: \(name(peer))")
    case .received(let peer, let join):
      (
        .info,
        "received from \(name(peer)): \(join.changes.count) changed files, "
          + "\(join.conflicts.count) new conflicts"
      )
    case .finished(let session):
      (
        .info,
        "done with \(name(session.peer)): sent \(session.sentVersions) and received "
          + "\(session.receivedVersions) versions, "
          + (session.isInSync ? "in sync" : "not in sync")
      )
    case .failed(let peer, let address, let error):
      (
        .warning,
        (peer.map { "session with \(name($0)) failed: " } ?? "\(address.printable) refused: ")
          + "\(error)".printable
      )
    case .joined(let invitation, let device):
      (
        .notice,
        "joined by \(name(invitation)) as \(device.role.rawValue): \(device.name.printable) "
          + "(\(short(device.deviceID))) at \(device.address.printable)"
      )
    case .declined(let invitation, let address):
      (.notice, "\(name(invitation)) declined by \(address.printable)")
    case .wrongCode(let invitation, let address, let left):
      (
        .warning,
        "wrong code for \(name(invitation)) from \(address.printable), \(left) attempts left"
      )
    case .ended(let invitation, let end): (.notice, "\(name(invitation)) ended: \(end)")
    case .discoveryFailed(let error):
      (.warning, "cannot be found by discovery: \("\(error)".printable)")
    }
  }

  /// The locator is public, the rest of the code is not.
  private static func name(_ invitation: Invitation) -> String {
    "invitation \(invitation.code.locator)"
  }

  private static func name(_ peer: PeerIdentity) -> String {
    "\(peer.name.printable) (\(short(peer.deviceID))) at \(peer.address.printable)"
  }

  private static func short(_ device: String) -> String { String(device.prefix(8)).printable }
}
