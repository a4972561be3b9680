/// The device's identity in one notebook, and the devices that it lets in.
public struct MemberCredentials: Sendable {
  /// The notebook ID: what a client names (SNI).
  public let notebookID: String
  let root: [UInt8]
  let chain: [[UInt8]]
  let privateKey: [UInt8]
  let verify: @Sendable ([[UInt8]]) -> CertificateVerdict

  /// `root` and `chain` in DER, own certificate first, without the root; `privateKey` the 32 bytes
  /// of an Ed25519 key. `verify` is asked about a peer's chain, own certificate first, after OpenSSL
  /// has verified it against the root; it runs during the handshake.
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

/// The answer to a peer's certificate. Over TLS the peer learns which.
public enum CertificateVerdict: Sendable {
  case accepted
  /// One that is blocked is told as little as a stranger.
  case refused(CertificateRefusal)
  /// It could not be judged, for a failure on this side; the peer learns only that something failed.
  case undecided(String)
}

/// The identity that a joining device sends in the clear, and its 32-byte key.
public struct PairingCredentials: Sendable {
  let identity: [UInt8]
  let preSharedKey: [UInt8]

  /// The identity and key that an invitation code gives its reader.
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

  /// `member` finds the notebook with this ID, in lower case; nil when it is not served. `pairing`
  /// finds the pre-shared key for the identity that a joining device sent; nil when no such
  /// invitation is open. Both run during the handshake and may take their time.
  ///
  /// `answered` runs, once or more often, when nothing is left to do but to wait for the client.
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

/// The application protocols (ALPN, RFC 7301), with their version.
enum ApplicationProtocol: String, CaseIterable {
  case member = "notes/1"
  case pairing = "notes-pair/1"

  var bytes: [UInt8] { Array(rawValue.utf8) }
  var list: [UInt8] { [UInt8(bytes.count)] + bytes }
}
