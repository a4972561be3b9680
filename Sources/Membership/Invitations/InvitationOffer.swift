internal import State
public import System

/// An admin's statement that one device with an invitation's secret may become a member, or a member's
/// statement that it may become another device of the member's person. Nothing in it is secret.
/// notes-security(7), "Invitations by a link".
public struct InvitationOffer: Sendable {
  /// The inviter's standing when it signed an invitation. The signed text says it, so a member that becomes an admin
  /// later does not make its earlier requests an admin's invitations.
  public enum Signer: Hashable, Sendable {
    /// An admin. It needs no proof that it has the invitation's secret, because an admin may invite any device.
    case admin
    /// A member that was not an admin, which asks for another device of its person.
    case member(isProved: Bool)
  }

  /// The invitation.
  public let id: InvitationID
  /// The notebook's ID.
  public let notebookID: String
  /// The role that the new member gets.
  public let role: Role
  /// The person to whom the new member will belong.
  public let person: InvitedPerson
  /// When it was made and when it expires, in seconds since 1970 by the inviter's clock.
  public let created: Int64
  public let expires: Int64
  /// The device that signed the offer. The list of members decides whether that is an admin's.
  public let inviterID: String
  /// The signed text.
  public let text: [UInt8]

  /// Whether this is the inviter's statement that the invitation is withdrawn.
  public let isWithdrawn: Bool

  let publicKey: [UInt8]
  /// The inviter's standing when it signed the invitation.
  public let signer: Signer

  /// Whether a member that was not an admin asks by this offer for another device of its person. Without the setting of
  /// `OwnDevices`, a person must agree.
  public var isAskedFor: Bool { signer != .admin }

  private static let form = "notes-invitation"
  private static let withdrawnForm = "notes-withdrawal"
  private static let proofForm = "notes-inviter"
  /// The times that an offer may name: up to the last one of RFC 5280, section 4.1.2.5.
  private static let times: ClosedRange<Int64> = 0...253_402_300_799

  /// Signs an offer.
  ///
  /// - Throws: `notAnAdmin` if `key` is not an admin's. A member's key may sign an offer for another device of
  ///   its own person, with a role that is not above its own.
  public init(
    _ secret: InvitationSecret, to membership: MembershipStore, role: Role,
    person: InvitedPerson = .unnamed, expires: Int64, by key: DeviceKey,
    now: Int64 = WallClock.now()
  ) throws {
    let isAdmin = membership.role(ofDevice: key.deviceID) == .admin
    let proof = try isAdmin ? nil : Self.proof(of: key.deviceID, by: secret.key)
    let lines = StateLines([
      Self.form: 1, "notebook": membership.notebookID,
      "key": String(hexadecimal: secret.key.publicKey), "role": role.rawValue, "created": now,
      "expires": expires, "mine": person == .own ? "yes" : nil,
      "person": person.name, "proof": proof.map { String(hexadecimal: $0.bytes) },
    ])
    let signed = try SignedText(lines, for: .offer, by: key)
    guard let offer = try InvitationOffer(signed) else { throw CertificateDefect.encoding }
    guard offer.isAllowed(to: membership.role(ofDevice: key.deviceID), now) else {
      throw MembershipError.notAnAdmin(device: key.deviceID)
    }
    self = offer
  }

  /// Reads an offer for any notebook; nil if it is invalid.
  public init?(parsing text: [UInt8]) throws {
    guard let signed = try SignedText(parsing: text, for: .offer) else { return nil }
    try self.init(signed)
  }

  private init?(_ signed: SignedText) throws {
    let lines = signed.lines
    isWithdrawn = lines[Self.form] == nil
    guard lines[isWithdrawn ? Self.withdrawnForm : Self.form] == "1",
      let notebook = lines["notebook"],
      let key = lines["key"].flatMap({ [UInt8](hexadecimal: $0) }), key.count == 32,
      let role = lines["role"].flatMap(Role.init), let created = lines[number: "created"],
      let expires = lines[number: "expires"],
      Self.times.contains(created), Self.times.contains(expires)
    else { return nil }
    notebookID = notebook
    publicKey = key
    id = try InvitationID(ofKey: key)
    (self.role, self.created, self.expires) = (role, created, expires)
    let name = lines["person"]
    if let name, !DisplayName.isAccepted(name) { return nil }
    person = lines["mine"] == "yes" ? .own : .new(name: name)
    let inviter = try PublicKey.deviceID(signed.signer)
    inviterID = inviter
    signer =
      try lines["proof"].map { proof in
        try .member(isProved: Self.isProof(proof, of: inviter, by: key))
      } ?? .admin
    text = signed.bytes
  }

  /// The inviter's statement that this invitation is withdrawn. It has the offer's lines in another form, and
  /// needs no secret.
  ///
  /// - Throws: `notAnAdmin` if `key` is not the inviter's.
  public func withdrawn(by key: DeviceKey) throws -> InvitationOffer {
    guard key.deviceID == inviterID, let signed = try SignedText(parsing: text, for: .offer) else {
      throw MembershipError.notAnAdmin(device: key.deviceID)
    }
    var lines = StateLines([Self.withdrawnForm: 1])
    for line in signed.lines.lines where line.key != Self.form {
      lines.append(line.key, line.value)
    }
    guard let offer = try InvitationOffer(SignedText(lines, for: .offer, by: key)) else {
      throw CertificateDefect.encoding
    }
    return offer
  }

  /// The statement, signed with the invitation's secret, that this device is the inviter. Without it a member
  /// could sign another member's invitation as its own, because anybody can read its requests at the hub.
  private static func proof(of device: String, by invitation: DeviceKey) throws -> SignedText {
    try SignedText(StateLines([proofForm: device]), for: .offer, by: invitation)
  }

  private static func isProof(_ text: String, of device: String, by key: [UInt8]) throws -> Bool {
    try [UInt8](hexadecimal: text).flatMap { try SignedText(parsing: $0, for: .offer) }
      .map { $0.signer == key && $0.lines[proofForm] == device } ?? false
  }
}

/// A device's request to become a member by an invitation. It contains the device's own request for a
/// certificate. The key derived from the invitation's secret signs it.
public struct AdmissionRequest: Sendable {
  /// The request for a certificate.
  public let request: CertificateRequest
  /// The version that the device has, in hexadecimal digits, if the request is in a file.
  public let tip: String?
  /// The signed text.
  public let text: [UInt8]

  /// The requesting device.
  public var deviceID: String { request.deviceID }

  private static let form = "notes-admission"

  /// Signs the request of a device.
  public init(
    _ request: CertificateRequest, by secret: InvitationSecret, tip: String? = nil
  ) throws {
    (self.request, self.tip) = (request, tip)
    let lines = StateLines([
      Self.form: 1, "invitation": secret.id, "request": String(hexadecimal: request.der),
      "tip": tip,
    ])
    text = try SignedText(lines, for: .admission, by: secret.key).bytes
  }

  /// Reads a request for an offer; nil if it is invalid, or was not made with the offer's secret.
  public init?(parsing text: [UInt8], to offer: InvitationOffer) throws {
    guard let signed = try SignedText(parsing: text, for: .admission),
      signed.signer == offer.publicKey, signed.lines[Self.form] == "1",
      signed.lines["invitation"] == offer.id.description,
      let der = signed.lines["request"].flatMap({ [UInt8](hexadecimal: $0) })
    else { return nil }
    do {
      request = try CertificateRequest(der: der)
    } catch MembershipError.requestRefused {
      return nil
    }
    (tip, self.text) = (signed.lines["tip"], text)
  }
}
