/// The device's identity in one notebook, and the check of other devices.
public struct MemberCredentials: Sendable {
  /// The notebook ID, which a client sends (SNI).
  public let notebookID: String
  let root: [UInt8]
  let chain: [[UInt8]]
  let privateKey: [UInt8]
  let verify: @Sendable ([[UInt8]]) -> CertificateVerdict

  /// `root` and `chain` are in DER, the device's own certificate first, without the root;
  /// `privateKey` has the 32 bytes of an Ed25519 key. `verify` is called with a peer's chain, its
  /// own certificate first, after OpenSSL has verified it against the root; it runs during the
  /// handshake.
  public init(
    notebookID: String, root: [UInt8], chain: [[UInt8]], privateKey: [UInt8],
    verify: @escaping @Sendable ([[UInt8]]) -> CertificateVerdict
  ) {
    self.notebookID = notebookID
    self.root = root
    self.chain = chain
    self.privateKey = privateKey
    self.verify = verify
  }
}

/// The result of checking a peer's certificate. Over TLS the peer gets the kind of result.
public enum CertificateVerdict: Sendable {
  case accepted
  /// A blocked device gets the same answer as a stranger.
  case refused(CertificateRefusal)
  /// The check failed on this side; the peer only learns that something failed.
  case undecided(String)
}

/// The identity that a joining device sends unencrypted, and its 32-byte key.
public struct PairingCredentials: Sendable {
  let identity: [UInt8]
  let preSharedKey: [UInt8]

  /// The identity and key for an invitation code.
  public init(identity: [UInt8], preSharedKey: [UInt8]) {
    self.identity = identity
    self.preSharedKey = preSharedKey
  }
}

/// The notebooks and invitations that a listening device serves at one port.
public struct ServerOffer: Sendable {
  let member: @Sendable (String) -> MemberCredentials?
  let pairing: @Sendable ([UInt8]) -> [UInt8]?
  let answered: @Sendable () -> Void

  /// `member` returns the credentials for the notebook with this ID, in lower case; nil if it is
  /// not served. `pairing` returns the pre-shared key for the identity that a joining device sent;
  /// nil if there is no such open invitation. Both run during the handshake and may take long.
  ///
  /// `answered` is called, at least once, when the server only waits for the client.
  public init(
    member: @escaping @Sendable (_ notebookID: String) -> MemberCredentials?,
    pairing: @escaping @Sendable (_ identity: [UInt8]) -> [UInt8]? = { _ in nil },
    answered: @escaping @Sendable () -> Void = {}
  ) {
    self.member = member
    self.pairing = pairing
    self.answered = answered
  }
}

/// The application protocols (ALPN, RFC 7301), with their versions.
enum ApplicationProtocol: String, CaseIterable {
  case member = "notes/1"
  case pairing = "notes-pair/1"

  var bytes: [UInt8] { Array(rawValue.utf8) }
  var list: [UInt8] { [UInt8(bytes.count)] + bytes }
}
