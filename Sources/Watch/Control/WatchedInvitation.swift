public import Channel
internal import Git
public import Membership
public import Sync

/// An invitation that a running watcher holds open for a command, for as long as the command is
/// connected.
public final class WatchedInvitation: Sendable {
  /// The invitation as this process was told of it.
  public let invitation: Invitation
  /// Where the watcher listens.
  public let port: UInt16
  private let client: ControlClient

  init(_ invitation: Invitation, port: UInt16, _ client: ControlClient) {
    self.invitation = invitation
    self.port = port
    self.client = client
  }

  /// Takes it back. From any thread.
  public func withdraw() {
    invitation.finish(.withdrawn)
    client.hangUp()
  }

  /// Waits until it has ended, or `token` is cancelled.
  ///
  /// - Parameter onEvent: is told what happens; called on this thread.
  /// - Throws: `WatchError.watcherGone` when the watcher has stopped.
  public func run(
    cancellation token: CancellationToken, onEvent: (Event) -> Void
  ) throws {
    onEvent(.invitation(OpenInvitation(invitation, port: port)))
    while let reply = client.next(orUntil: token) {
      if reply.type == "ended" {
        invitation.finish(reply.message.flatMap(InvitationEnd.init(rawValue:)) ?? .withdrawn)
        return
      }
      if let event = Event(reply, of: invitation) { onEvent(event) }
    }
    if invitation.end == nil, !token.isCancelled { throw WatchError.watcherGone }
  }
}

extension ControlClient {
  /// Has the watcher open an invitation.
  ///
  /// - Parameter guest: the device that it is meant for, if for one.
  /// - Throws: `WatchError.watcherRefused` with its reason, or `.watcherGone`.
  public func invite(
    role: Role, seconds: Double, for guest: Member? = nil
  ) throws -> WatchedInvitation {
    var request = ControlRequest(.invite)
    request.role = role.rawValue
    request.seconds = seconds
    request.name = guest?.name
    request.device = guest?.deviceID
    guard ask(request), let reply = next() else { throw WatchError.watcherGone }
    guard let code = reply.code.flatMap(InvitationCode.init(parsing:)), let port = reply.port,
      let expires = reply.expires
    else { throw WatchError.watcherRefused(reply.message ?? "no reason given") }
    return WatchedInvitation(
      Invitation(code: code, role: role, expires: expires), port: UInt16(clamping: port), self)
  }

  /// Has the watcher tell a device of an invitation to another notebook, for as long as this
  /// connection lasts. False when there is no session with the device within `seconds`; the device
  /// is told all the same when one begins.
  public func offer(_ invitation: CarriedInvitation, within seconds: Double) -> Bool {
    var request = ControlRequest(.offer)
    request.offer = ControlOffer(invitation)
    return ask(request) && next(within: seconds)?.type == "told"
  }

  /// Has the watcher save everything and waits until the devices that are connected have it.
  ///
  /// - Parameter before: what it said of them before.
  /// - Returns: what was exchanged with each since then; nil when the watcher does not answer.
  public func synchronize(
    within seconds: Double, since before: [ControlReply]
  ) -> [SessionResult]? {
    var request = ControlRequest(.sync)
    request.seconds = seconds
    let replies = all(request, within: seconds + 5)
    guard replies.last?.type == "done" else { return nil }
    return replies.filter { $0.type == "peer" }.compactMap { reply in
      var reply = reply
      // A session that began meanwhile counts whole.
      if let former = before.first(where: { $0.device == reply.device }),
        former.sentBytes ?? 0 <= reply.sentBytes ?? 0
      {
        reply.subtract(former)
      }
      return SessionResult(reply)
    }
  }
}

extension ControlReply {
  fileprivate mutating func subtract(_ former: ControlReply) {
    sentVersions = (sentVersions ?? 0) - (former.sentVersions ?? 0)
    receivedVersions = (receivedVersions ?? 0) - (former.receivedVersions ?? 0)
    sentBytes = (sentBytes ?? 0) - (former.sentBytes ?? 0)
    receivedBytes = (receivedBytes ?? 0) - (former.receivedBytes ?? 0)
  }
}

extension Event {
  /// What a watcher tells of an invitation; nil for what is not known.
  init?(_ reply: ControlReply, of invitation: Invitation) {
    let (locator, address) = (invitation.locator, reply.address ?? "")
    switch reply.type {
    case "offered": self = .offered(locator: locator, address: address)
    case "declined": self = .declined(locator: locator, address: address)
    case "wrong_code":
      self = .wrongCode(
        locator: locator, address: address, attemptsLeft: reply.attemptsLeft ?? 0)
    case "joined":
      self = .joined(
        locator: locator,
        PairedDevice(
          name: reply.name ?? "", deviceID: reply.device ?? "", role: invitation.role,
          address: address))
    case "synchronised":
      guard let result = SessionResult(reply) else { return nil }
      self = .finished(result)
    default: return nil
    }
  }
}

extension SessionResult {
  /// What was exchanged with a device; nil for a line of another kind.
  init?(_ reply: ControlReply) {
    guard let device = reply.device, let role = reply.role.flatMap(Role.init(rawValue:)) else {
      return nil
    }
    let peer = PeerIdentity(
      name: reply.name ?? "", deviceID: device, role: role, address: reply.address ?? "")
    let tip = reply.tip.flatMap { ObjectID(hex: $0) }
    self.init(peer: peer, tip: reply.inSync == true ? tip : nil, peerTip: tip)
    sentVersions = reply.sentVersions ?? 0
    receivedVersions = reply.receivedVersions ?? 0
    sentBytes = reply.sentBytes ?? 0
    receivedBytes = reply.receivedBytes ?? 0
  }
}
