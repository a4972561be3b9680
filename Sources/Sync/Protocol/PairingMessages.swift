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
  /// The IDs that the notebook had before its membership was begun anew.
  var formerly: [String]?

  func validate() throws {
    for name in [notebook, notebookName, inviter, device] { try MessageRules.check(name: name) }
    guard Role(rawValue: role) != nil else { throw SyncError.protocolBroken("an unknown role") }
    let former = formerly ?? []
    try MessageRules.check(count: former.count, limit: ProtocolLimits.formerIDs, "former IDs")
    for id in former { try MessageRules.check(name: id) }
    guard notes >= 0, bytes >= 0 else { throw SyncError.protocolBroken("a negative count") }
    try MessageRules.check(time: expires)
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

/// An invitation to another notebook, for the device at the other end: a part of `hello`.
struct HelloInvitation: Codable, Sendable {
  /// Secret.
  var code: String
  var notebook: String
  var notebookName: String
  var role: String
  /// Seconds since 1970.
  var expires: Int64
  var port: UInt16

  func validate() throws {
    for name in [code, notebook, notebookName] { try MessageRules.check(name: name) }
    guard notebook.utf8.allSatisfy({ (0x61...0x7a).contains($0) || (0x32...0x37).contains($0) })
    else { throw SyncError.protocolBroken("a notebook ID that is none") }
    try MessageRules.check(time: expires)
    guard Role(rawValue: role) != nil, port != 0 else {
      throw SyncError.protocolBroken("an invitation that nobody can answer")
    }
  }
}
