internal import System

/// The secret of an invitation by a link: 160 random bits, from which a key pair is derived that signs one
/// request. Only the link contains the secret: notes-security(7), "Invitations by a link".
public struct InvitationSecret: Sendable, CustomStringConvertible, CustomReflectable {
  /// The secret as 32 characters of base32, in lower case. Secret.
  public var text: String { String(base32: bytes).lowercased() }
  /// The invitation's ID, which is public.
  public let id: InvitationID

  let key: DeviceKey
  private let bytes: [UInt8]

  private static let size = 20
  private static let label = Array("notes invitation key 1\0".utf8)

  /// A new secret.
  public init() throws { try self.init(bytes: OpenSSL.random(Self.size)) }

  /// Reads a secret; nil if the text is invalid.
  public init?(text: String) throws {
    guard let bytes = [UInt8](base32: text.uppercased()), bytes.count == Self.size,
      String(base32: bytes).lowercased() == text
    else { return nil }
    try self.init(bytes: bytes)
  }

  private init(bytes: [UInt8]) throws {
    self.bytes = bytes
    key = try DeviceKey(privateKey: OpenSSL.sha256(Self.label + bytes))
    id = try InvitationID(ofKey: key.publicKey)
  }

  public var description: String { "invitation \(id)" }
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The ID of an invitation that is sent as a link: the first 16 bytes of the SHA-256 of a label and the
/// invitation's public key. It is also the serial number of the certificate issued for the invitation. So the
/// list of members shows the used invitations, and the revocation lists show the cancelled ones.
public struct InvitationID: Hashable, Sendable, CustomStringConvertible {
  let serial: [UInt8]

  private static let label = Array("notes invitation 1\0".utf8)

  init(ofKey publicKey: [UInt8]) throws {
    serial = Array(try OpenSSL.sha256(Self.label + publicKey).prefix(Serial.size))
  }

  /// 32 hexadecimal digits.
  public var description: String { String(hexadecimal: serial) }
  /// The first digits, for people: enough to name one of a notebook's invitations.
  public var short: String { String(description.prefix(8)) }
}
