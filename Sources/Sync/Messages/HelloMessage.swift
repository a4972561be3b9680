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

  func validate() throws {
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
}
