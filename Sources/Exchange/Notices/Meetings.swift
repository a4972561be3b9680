internal import Git
internal import Membership
internal import Notebook
internal import System

/// Another device that a member met, by the member's report: notes-protocol(7), hello, `met`.
struct CarriedMeeting: Codable, Sendable, Hashable {
  let device: String
  /// How many seconds ago the member was last connected to it.
  let ago: Int64

  func validate() throws {
    try MessageRules.check(name: device)
    try MessageRules.check(time: ago)
  }
}

/// The devices and hubs that the sender met, sent every hour of a continuous session.
struct MeetingsMessage: Message {
  static let type = MessageType.meetings

  /// As in `hello`: the digest of the members that the sender knows now.
  var membership: String
  var met: [CarriedMeeting]
  var hubs: [CarriedSighting]

  func validate() throws { try MessageRules.check(met: met, hubs: hubs) }
}

extension MessageRules {
  static func check(met: [CarriedMeeting]?, hubs: [CarriedSighting]?) throws {
    try check(count: met?.count ?? 0, limit: ProtocolLimits.meetings, "devices it met")
    try met?.forEach { try $0.validate() }
    try check(count: hubs?.count ?? 0, limit: ProtocolLimits.hubs, "hubs")
    try hubs?.forEach { try $0.validate() }
  }
}

/// The devices that each side met, and the hours of a session that lasts: each of its days counts as a meeting, because
/// both sides still know the same members.
struct MeetingNotice: Notice {
  let scene: NoticeScene

  private var sightings: PeerSightings { PeerSightings(stateFolder: scene.notebook.stateFolder) }

  private var said: [CarriedMeeting] { sightings.said(besides: scene.peer.deviceID) }

  func add(to hello: inout HelloMessage) { hello.met = said }

  func received(_ hello: HelloMessage) {
    if let met = hello.met { sightings.record(met, of: scene.peer.deviceID) }
  }

  func reminder() throws -> (any Message)? {
    MeetingsMessage(
      membership: scene.context.membershipDigest(), met: said,
      hubs: HubSightings(of: scene.notebook).said())
  }

  func received(_ message: any Message) throws {
    guard let message = message as? MeetingsMessage else { return }
    let membership = scene.context.membership
    try membership.refresh()
    // The next session exchanges the difference.
    if message.membership != scene.context.membershipDigest() { throw SyncError.ended(.done) }
    sightings.record(scene.peer.deviceID, on: nil)
    sightings.record(message.met, of: scene.peer.deviceID)
    HubSightings(of: scene.notebook).record(message.hubs, of: scene.peer.deviceID)
    try membership.heardMembership()
  }
}

extension SessionContext {
  /// A digest that is equal if two devices know the same membership: the blob ID of the sorted blob IDs of all
  /// certificates and revocation lists. Only an admin could make two with equal IDs. A collision could only
  /// hide a certificate, which an admin can also do by not making it.
  func membershipDigest() -> String {
    let parts = membership.certificates + membership.revocations
    let names = parts.map(ObjectID.digest(ofBlob:)).sorted()
    return ObjectID.digest(ofBlob: names.flatMap(\.bytes)).hex
  }
}
