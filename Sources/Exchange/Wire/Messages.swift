internal import Git
internal import Membership

/// The reasons for which a side ends a session; notes-protocol(7), REASONS.
public enum ByeReason: String, Sendable, Codable {
  case done
  case version
  case wrongNotebook = "wrong_notebook"
  case notAMember = "not_a_member"
  case duplicate
  case busy
  case overLimit = "over_limit"
  case protocolBroken = "protocol"
  case refusedPack = "refused_pack"
  case stopped
  case failed
  case expired

  /// Unknown reasons of later versions count as a failure.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    self = ByeReason(rawValue: text) ?? .failed
  }
}

struct ByeMessage: Message {
  static let type = MessageType.bye

  var reason: ByeReason
  var message: String?
}

struct WorkingMessage: Message { static let type = MessageType.working }

struct PingMessage: Message { static let type = MessageType.ping }

struct PongMessage: Message { static let type = MessageType.pong }

struct HelloMessage: Message {
  static let type = MessageType.hello

  var versions: [Int]
  var notebook: String
  var device: String
  var name: String
  var mode: SyncMode
  /// Whether the sender accepts versions from this peer.
  var takes: Bool
  var tip: ObjectID?
  var heads: [ObjectID]
  var notes: Int
  /// A digest of the sender's membership.
  var membership: String
  var port: UInt16?
  /// Whether the sender wants the session to end when both sides are done.
  var once: Bool?
  /// Whether the sender joined the notebook and still waits for its first versions.
  var awaits: Bool?
  /// The version of the sender's merge rules.
  var merge: Int?
  var invitation: CarriedInvitation?
  /// Distinguishes the sender's machine from others with the same key.
  var machine: ObjectID?
  /// How many seconds ago two machines alternated with the receiver's key.
  var keyShared: Int64?
  /// The device ID of the key that the sender's machine had before its own.
  var left: String?
  /// The tips that hubs showed the sender.
  var hubs: [CarriedSighting]?
  /// The devices to which the sender connected; nil from a program that does not report them.
  var met: [CarriedMeeting]?
  /// A PKCS #10 request for the sender's new key, sent to admins.
  var request: Base64?
  /// A request to let in another device of the sender's person, and its offer, sent to admins.
  var admission: Base64?
  /// The invitations for other devices of the sender's person that it withdrew, sent to admins.
  var withdrawn: [Base64]?
  /// The forgettings that the sender's history obeys, sorted; nil if there are none.
  var forgot: [String]?

  func validate() throws {
    try MessageRules.check(forgettings: forgot)
    try invitation?.validate()
    try MessageRules.check(
      count: request?.bytes.count ?? 0, limit: ProtocolLimits.certificateBytes,
      "bytes of a certificate")
    try MessageRules.check(
      count: admission?.bytes.count ?? 0, limit: AdmissionFile.maximumSize, "bytes of a request")
    try MessageRules.check(
      count: withdrawn?.count ?? 0, limit: ProtocolLimits.withdrawals, "withdrawn invitations")
    for text in withdrawn ?? [] {
      try MessageRules.check(
        count: text.bytes.count, limit: AdmissionFile.maximumSize, "bytes of a request")
    }
    if let keyShared { try MessageRules.check(time: keyShared) }
    try MessageRules.check(name: name)
    try MessageRules.check(name: device)
    if let left { try MessageRules.check(name: left) }
    try MessageRules.check(count: hubs?.count ?? 0, limit: ProtocolLimits.hubs, "hubs")
    try hubs?.forEach { try $0.validate() }
    try MessageRules.check(count: met?.count ?? 0, limit: ProtocolLimits.meetings, "devices it met")
    try met?.forEach { try $0.validate() }
    try MessageRules.check(tip: tip, heads: heads)
  }
}

struct MembershipMessage: Message {
  static let type = MessageType.membership

  var certificates: [Base64] = []
  var revocations: [Base64] = []
  var more: Bool?
  /// The size of the appended messages. Not sent.
  private var bytes = 0

  private enum CodingKeys: String, CodingKey { case certificates, revocations, more }

  init(certificates: [Base64] = [], revocations: [Base64] = [], more: Bool? = nil) {
    (self.certificates, self.revocations, self.more) = (certificates, revocations, more)
  }

  func validate() throws {
    let count = certificates.count + revocations.count
    try MessageRules.check(
      count: count, limit: ProtocolLimits.certificatesPerMessage, "certificates in a message")
    try MessageRules.check(certificates: certificates, revocations: revocations)
    if more == true, count == 0 { throw SyncError.protocolBroken("a message of no certificates") }
  }

  /// Appends the next of several messages.
  mutating func append(_ next: MembershipMessage) throws {
    certificates += next.certificates
    revocations += next.revocations
    more = next.more
    try MessageRules.check(
      count: certificates.count, limit: ProtocolLimits.certificates, "certificates in all")
    try MessageRules.check(
      count: revocations.count, limit: ProtocolLimits.revocationLists, "revocation lists in all")
    bytes += (next.certificates + next.revocations).reduce(0) { $0 + $1.bytes.count }
    try MessageRules.check(
      count: bytes, limit: ProtocolLimits.allMembershipBytes, "bytes of certificates in all")
  }

  /// The certificates and lists of a side, in as many messages as necessary; at least one.
  static func messages(certificates: [[UInt8]], revocations: [[UInt8]]) -> [MembershipMessage] {
    var messages: [MembershipMessage] = []
    var message = MembershipMessage()
    var (count, bytes) = (0, 0)
    func add(_ parts: [[UInt8]], to list: WritableKeyPath<MembershipMessage, [Base64]>) {
      for part in parts {
        if count == ProtocolLimits.certificatesPerMessage
          || (count > 0 && bytes + part.count > ProtocolLimits.membershipBytes)
        {
          message.more = true
          messages.append(message)
          message = MembershipMessage()
          (count, bytes) = (0, 0)
        }
        message[keyPath: list].append(Base64(part))
        count += 1
        bytes += part.count
      }
    }
    add(certificates, to: \.certificates)
    add(revocations, to: \.revocations)
    return messages + [message]
  }
}

struct HeadsMessage: Message {
  static let type = MessageType.heads

  var tip: ObjectID?
  var heads: [ObjectID]
  /// The forgettings that the sender's history obeys, as in `hello`.
  var forgot: [String]?

  func validate() throws {
    try MessageRules.check(forgettings: forgot)
    try MessageRules.check(tip: tip, heads: heads)
  }
}

extension HeadsMessage {
  init(_ shown: Shown) {
    self.init(
      tip: shown.tip, heads: shown.heads, forgot: shown.forgot.isEmpty ? nil : shown.forgot)
  }
}

struct WantMessage: Message {
  static let type = MessageType.want

  var wants: [ObjectID]
  var haves: [ObjectID]

  func validate() throws {
    try MessageRules.check(heads: wants)
    try MessageRules.check(count: haves.count, limit: ProtocolLimits.haves, "commits it has")
  }
}

struct PackMessage: Message {
  static let type = MessageType.pack

  var objects: Int
  var versions: Int
  /// The total size of the objects, before compression; nil from builds before 1.1.
  var bytes: Int?
  var heads: [ObjectID]

  func validate() throws {
    try MessageRules.check(heads: heads)
    guard objects >= 0, versions >= 0, bytes ?? 0 >= 0 else {
      throw SyncError.protocolBroken("a negative count")
    }
    try MessageRules.check(count: objects, limit: PackLimits.standard.objects, "objects in a pack")
  }
}

/// The versions that a side shows after it settled the other side's heads.
struct AppliedMessage: Message {
  static let type = MessageType.applied

  var tip: ObjectID?
  var heads: [ObjectID]
  /// How many of the receiver's `heads` messages this side has settled.
  var heard: Int?
  var received: Int
  var conflicts: Int
  /// A `MergeRefusal`; other reasons are unknown to this version.
  var refused: String?
  /// The forgettings that the sender's history obeys, as in `hello`.
  var forgot: [String]?

  func validate() throws {
    try MessageRules.check(forgettings: forgot)
    try MessageRules.check(heads: heads)
  }
}

struct EditingMessage: Message {
  static let type = MessageType.editing

  /// Paths, as bytes: they may not be valid text.
  var paths: [Base64]

  func validate() throws {
    try MessageRules.check(
      count: paths.count, limit: ProtocolLimits.editedNotes, "notes that are edited")
    for path in paths {
      try MessageRules.check(
        count: path.bytes.count, limit: ProtocolLimits.pathBytes, "bytes of a path")
    }
  }
}

extension EditingMessage {
  init(_ notes: [TreePath]) {
    paths = notes.prefix(ProtocolLimits.editedNotes).map { Base64($0.bytes) }
  }

  var notes: [TreePath] { paths.map { TreePath(bytes: $0.bytes) } }
}

struct InvitationMessage: Message {
  static let type = MessageType.invitation

  var invitation: CarriedInvitation

  func validate() throws { try invitation.validate() }
}

extension PairingOffer: Message {
  static let type = MessageType.offer

  func validate() throws {
    let former = formerly ?? []
    for name in [notebookID, notebookName, inviter, device, person].compactMap(\.self) {
      try MessageRules.check(name: name)
    }
    try MessageRules.check(count: former.count, limit: ProtocolLimits.formerIDs, "former IDs")
    for id in former { try MessageRules.check(name: id) }
    let counts = [notes, bytes, files ?? 0, fileBytes ?? 0]
    guard counts.allSatisfy({ $0 >= 0 }) else { throw SyncError.protocolBroken("a negative count") }
    try MessageRules.check(
      count: members?.count ?? 0, limit: ProtocolLimits.offeredMembers, "members in an offer")
    for member in members ?? [] {
      for name in [member.device, member.name] { try MessageRules.check(name: name) }
    }
    try MessageRules.check(time: expires)
  }
}

struct AcceptMessage: Message {
  static let type = MessageType.accept

  var name: String
  var request: Base64

  func validate() throws { try MessageRules.check(name: name) }
}

struct DeclineMessage: Message { static let type = MessageType.decline }

struct CertificateMessage: Message {
  static let type = MessageType.certificate

  var certificate: Base64
  var root: Base64
  var certificates: [Base64]
  var revocations: [Base64]
  /// The claims of the founder's place that the inviter has accepted; nil if there are none.
  var claims: [Base64]?

  func validate() throws {
    try MessageRules.check(
      count: certificates.count + revocations.count, limit: ProtocolLimits.certificates,
      "certificates in all")
    try MessageRules.check(count: claims?.count ?? 0, limit: ProtocolLimits.claims, "claims")
    try MessageRules.check(
      certificates: certificates + [certificate, root], revocations: revocations)
  }
}

struct InstalledMessage: Message { static let type = MessageType.installed }
