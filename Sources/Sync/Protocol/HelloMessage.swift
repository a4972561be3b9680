internal import Git

/// Who a side is and what it has.
struct HelloMessage: Message {
  static let type = MessageType.hello

  var versions: [Int]
  var notebook: String
  var device: String
  var name: String
  var mode: SyncMode
  /// Whether the sender takes versions from this peer.
  var takes: Bool
  var tip: ObjectID?
  var heads: [ObjectID]
  var notes: Int
  /// A digest of what the sender knows of the membership.
  var membership: String
  var port: UInt16?
  /// Whether the sender wants the session to end when both sides are done.
  var once: Bool?
  /// The version of the merge rules that the sender follows.
  var merge: Int?
  /// An invitation to another notebook, for the device at the other end.
  var invitation: HelloInvitation?

  func validate() throws {
    try invitation?.validate()
    try MessageRules.check(count: heads.count, limit: ProtocolLimits.heads, "heads of a side")
    try MessageRules.check(name: name)
    try MessageRules.check(name: device)
    guard Set(heads).count == heads.count, (tip == nil) == heads.isEmpty else {
      throw SyncError.protocolBroken("a tip that does not fit the heads")
    }
  }
}

/// Certificates and revocation lists.
struct MembershipMessage: Message {
  static let type = MessageType.membership

  var certificates: [Base64]
  var revocations: [Base64]
  /// Whether another such message follows.
  var more: Bool?

  func validate() throws {
    try MessageRules.check(
      count: certificates.count + revocations.count,
      limit: ProtocolLimits.certificatesPerMessage, "certificates in a message")
  }

  /// What a side knows, in as many messages as it takes; at least one.
  static func messages(certificates: [[UInt8]], revocations: [[UInt8]]) -> [MembershipMessage] {
    var messages = [MembershipMessage(certificates: [], revocations: [], more: nil)]
    var count = 0
    var bytes = 0
    func makeRoom(for part: [UInt8]) {
      if count == ProtocolLimits.certificatesPerMessage
        || (count > 0 && bytes + part.count > ProtocolLimits.membershipBytes)
      {
        messages[messages.count - 1].more = true
        messages.append(MembershipMessage(certificates: [], revocations: [], more: nil))
        (count, bytes) = (0, 0)
      }
      count += 1
      bytes += part.count
    }
    for certificate in certificates {
      makeRoom(for: certificate)
      messages[messages.count - 1].certificates.append(Base64(certificate))
    }
    for list in revocations {
      makeRoom(for: list)
      messages[messages.count - 1].revocations.append(Base64(list))
    }
    return messages
  }
}
