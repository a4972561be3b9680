internal import Git
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

  /// What is usually not worth a line.
  func debug(_ line: String) { logger.debug("\(line.printable)") }

  /// What somebody should know.
  func warn(_ line: String) { logger.warning("\(line.printable)") }

  private static func line(of event: ServiceEvent) -> (level: Logger.Level, text: String) {
    switch event {
    case .listening(let address, let port): (.info, "listening on \(address) port \(port)")
    case .invitation(let invitation, let port):
      (.info, "\(name(invitation)) for a \(invitation.role.rawValue) is open on port \(port)")
    case .peer(let peer): (.info, "connected: \(name(peer))")
    case .received(let peer, let join):
      (
        .info,
        "received from \(name(peer)): \(count(join.changes, "changed file")), "
          + count(join.conflicts, "new conflict")
      )
    case .differs(let peer, let difference): (.warning, line(of: difference, with: peer))
    case .finished(let session):
      (
        .info,
        "done with \(name(session.peer)): sent \(session.sentVersions) and received "
          + "\(things(session.receivedVersions, "version")), "
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
    case .offered(let invitation, let address):
      (.info, "\(name(invitation)) is looked at by \(address.printable)")
    case .declined(let invitation, let address):
      (.notice, "\(name(invitation)) declined by \(address.printable)")
    case .wrongCode(let invitation, let address, let left):
      (
        .warning,
        "wrong code for \(name(invitation)) from \(address.printable), \(left) attempts left"
      )
    case .ended(let invitation, let end): (.notice, "\(name(invitation)) ended: \(end)")
    case .watch(let event): line(of: event)
    case .discoveryFailed(let error):
      (.warning, "cannot be found by discovery: \("\(error)".printable)")
    }
  }

  private static func line(of event: WatchEvent) -> (level: Logger.Level, text: String) {
    switch event {
    case .version(let notebook, let saved):
      (.info, "\(short(notebook)): version of \(count(saved.changes, "changed file"))")
    case .joined(let notebook, let peer, let join):
      (
        .debug,
        "\(short(notebook)): \(name(peer)) brought \(count(join.changes, "changed file"))"
      )
    case .connected(let notebook, let peer):
      (.info, "\(short(notebook)): session with \(name(peer)) stands")
    case .disconnected(let notebook, let peer):
      (.info, "\(short(notebook)): session with \(name(peer)) is over")
    case .shows(let notebook, let peer, let tip):
      (.debug, "\(short(notebook)): \(name(peer)) shows \(tip.map { "\($0)" } ?? "nothing")")
    case .editing(let notebook, let peer, let paths):
      (.debug, "\(short(notebook)): \(name(peer)) edits \(count(paths, "note"))")
    case .members(let notebook): (.debug, "\(short(notebook)): the members have changed")
    case .addresses(let notebook): (.debug, "\(short(notebook)): a device was reached elsewhere")
    case .held(let notebook, let deleted, let total):
      (
        .warning,
        "\(short(notebook)): held back a version that would delete \(deleted) of \(total) notes; "
          + "'notes save --allow-deletes' lets it through"
      )
    case .replaced(let notebook, let plain):
      (
        .warning,
        "\(short(notebook)): \(short(plain.version)) stands in the place of "
          + "\(short(plain.made)), which was made with git and holds what no device takes: "
          + plain.leftOut.map { "\($0.path)".printable }.joined(separator: ", ")
      )
    case .failed(let notebook, let error):
      (.warning, "\(short(notebook)): \("\(error)".printable)")
    case .watchLimit(let notebook, let interval):
      (
        .warning,
        "\(short(notebook)): no more folders can be watched (fs.inotify.max_user_watches); "
          + "the folder is looked through every \(Int(interval)) s instead"
      )
    case .folder(let notebook, let isThere):
      (.notice, "\(short(notebook)): the folder is \(isThere ? "there again" : "not there")")
    case .housekeepingDue(let notebook, _):
      (.debug, "\(short(notebook)): housekeeping is due")
    }
  }

  private static func line(of difference: TipDifference, with peer: PeerIdentity) -> String {
    let theirs = difference.peerRules.map(String.init) ?? "unknown"
    return "the same versions merge differently at \(name(peer)): "
      + "\(short(difference.peerTip)) by rules \(theirs), "
      + "here \(short(difference.tip)) by rules \(difference.rules); the next edit settles it"
  }

  /// The locator is public, the rest of the code is not.
  private static func name(_ invitation: Invitation) -> String {
    "invitation \(invitation.code.locator)"
  }

  private static func name(_ peer: PeerIdentity) -> String {
    "\(peer.name.printable) (\(short(peer.deviceID))) at \(peer.address.printable)"
  }

  private static func count(_ all: some Collection, _ thing: String) -> String {
    things(all.count, thing)
  }

  private static func things(_ number: Int, _ thing: String) -> String {
    number == 1 ? "1 \(thing)" : "\(number) \(thing)s"
  }

  private static func short(_ tip: ObjectID) -> Substring { tip.hex.prefix(10) }

  private static func short(_ device: String) -> String { String(device.prefix(8)).printable }
}
