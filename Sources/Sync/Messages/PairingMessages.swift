internal import Membership

/// What somebody is invited to.
struct OfferMessage: Message {
  static let type = MessageType.offer

  var versions: [Int]
  var notebook: String
  var notebookName: String
  var notes: Int
  var bytes: Int
  var inviter: String
  var device: String
  var role: String
  /// Seconds since 1970.
  var expires: Int64

  func validate() throws {
    for name in [notebook, notebookName, inviter, device] { try MessageRules.check(name: name) }
    guard Role(rawValue: role) != nil else { throw SyncError.protocolBroken("an unknown role") }
    guard notes >= 0, bytes >= 0 else { throw SyncError.protocolBroken("a negative count") }
  }
}

/// The joiner agrees and asks for a certificate.
struct AcceptMessage: Message {
  static let type = MessageType.accept

  var name: String
  /// A PKCS #10 request.
  var request: Base64

  func validate() throws { try MessageRules.check(name: name) }
}

/// The joiner does not want to.
struct DeclineMessage: Message {
  static let type = MessageType.decline
}

/// What a new member needs.
struct CertificateMessage: Message {
  static let type = MessageType.certificate

  var certificate: Base64
  var root: Base64
  var certificates: [Base64]
  var revocations: [Base64]

  func validate() throws {
    try MessageRules.check(
      count: certificates.count + revocations.count, limit: ProtocolLimits.certificates,
      "certificates in all")
  }
}

/// The joiner stored its membership.
struct InstalledMessage: Message {
  static let type = MessageType.installed
}
