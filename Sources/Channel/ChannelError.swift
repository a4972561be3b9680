/// What can go wrong between two devices.
public enum ChannelError: Error, Equatable, Sendable {
  /// libssl or libcrypto could not be loaded; the text is the loader's.
  case libraryMissing(String)
  /// The text is not `HOST:PORT` or `[IPV6%SCOPE]:PORT`.
  case invalidAddress(String)
  /// The host's name has no address; the text is the resolver's.
  case hostUnknown(host: String, reason: String)
  /// Nothing answered at the address, for this `errno`.
  case unreachable(Address, code: Int32)
  /// The host answered, but nobody listens at the port.
  case connectionRefused(Address)
  /// Another process listens at the port.
  case portInUse(Address)
  /// The address to listen at is not this host's, or not allowed, for this `errno`.
  case addressUnavailable(Address, code: Int32)

  /// What came from the other end is not TLS.
  case notTLS
  /// The other end speaks only versions of TLS before 1.3.
  case tlsVersionUnsupported
  /// The other end speaks no protocol that we speak.
  case protocolUnsupported
  /// The server has no notebook of the name that the client gave.
  case notebookUnknown
  /// No such invitation is open.
  case invitationUnknown
  /// The two ends have different codes.
  case wrongCode
  /// We refused the other end's certificate.
  case certificateRefused(CertificateRefusal)
  /// The other end refused our certificate. A client learns it at its first read.
  case refusedByPeer(CertificateRefusal)
  /// We could not judge the other end's certificate: something failed here, in these words.
  case verificationFailed(String)
  /// Something failed at the other end; it says nothing about us.
  case peerFailed
  /// TLS failed otherwise: the call and OpenSSL's reasons, oldest first.
  case tls(call: String, reasons: [String])

  /// The deadline passed.
  case timedOut(Phase)
  /// The caller's token was cancelled.
  case cancelled
  /// The other end said that it has finished.
  case closedByPeer
  /// The connection broke off without that.
  case connectionLost
  /// A frame says it is longer than its type allows; nothing was allocated for it.
  case frameTooLarge(type: UInt8?, length: Int, limit: Int)
  /// A frame without a type.
  case frameEmpty
  /// An operation of the system failed with this `errno`.
  case system(call: String, code: Int32)

  /// What was waited for.
  public enum Phase: Equatable, Sendable {
    case resolving, connecting, handshake, sending, receiving
  }
}

/// Why a certificate is refused.
public enum CertificateRefusal: Equatable, Sendable {
  /// No admin of the notebook certified the device.
  case stranger
  /// The device was a member and has been removed.
  case removed
  /// This device exchanges nothing with that one.
  case blocked
  /// No certificate was presented.
  case missing
}
