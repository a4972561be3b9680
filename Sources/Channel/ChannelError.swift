internal import System

/// The errors between two devices; the messages below explain each case.
public enum ChannelError: Error, Equatable, Sendable {
  /// A library of OpenSSL could not be loaded; the text is the loader's message.
  case libraryMissing(String)
  /// The text is not an address of the form `HOST:PORT` or `[IPV6%SCOPE]:PORT`.
  case invalidAddress(String)
  /// The host's name has no address; the reason is the resolver's message.
  case hostUnknown(host: String, reason: String)
  /// Nothing answered at the address, for this `errno`.
  case unreachable(Address, code: Int32)
  /// The host answered and refused the connection.
  case connectionRefused(Address)
  case portInUse(Address)
  /// The address is not one of this host's, or this user may not listen there; with the `errno`.
  case addressUnavailable(Address, code: Int32)

  case notTLS
  case tlsVersionUnsupported
  case protocolUnsupported
  /// The server has no notebook with the client's name.
  case notebookUnknown
  case invitationUnknown
  /// The two sides have different codes.
  case wrongCode
  /// This side refused the other side's certificate.
  case certificateRefused(CertificateRefusal)
  /// The other side refused this device's certificate. A client notices this at its first read.
  case refusedByPeer(CertificateRefusal)
  /// This side could not check the other side's certificate, for this reason.
  case verificationFailed(String)
  /// The handshake failed on the other side, for a reason that says nothing about this device.
  case peerFailed
  /// TLS failed in another way: the call and OpenSSL's reasons, oldest first.
  case tls(call: String, reasons: [String])

  case timedOut(Phase)
  /// The caller's token was cancelled.
  case cancelled
  /// The other side has sent its close message.
  case closedByPeer
  /// The connection ended without a close message.
  case connectionLost
  /// A frame states a length above the limit for its type. No memory was allocated for it.
  case frameTooLarge(type: UInt8?, length: Int, limit: Int)
  case frameEmpty
  /// A system call failed with this `errno`.
  case system(call: String, code: Int32)

  /// The step that exceeded its time.
  public enum Phase: Equatable, Sendable {
    case resolving, connecting, handshake, sending, receiving
  }
}

/// The reason why a certificate is refused.
public enum CertificateRefusal: String, Sendable, CustomStringConvertible {
  /// No admin of the notebook certified the device.
  case stranger = "is not a member of the notebook"
  case removed = "has been removed from the notebook"
  /// This device has blocked the other one.
  case blocked = "is blocked on this device"
  case missing = "showed no certificate"

  public var description: String { rawValue }
}

// The message for people: lower case, no full stop. No part of it comes from the peer.

extension ChannelError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .libraryMissing(let reason): "OpenSSL cannot be loaded: \(reason)"
    case .invalidAddress(let text): "'\(text)' is not an address"
    case .hostUnknown(let host, let reason): "cannot find the host \(host): \(reason)"
    case .unreachable(let address, let code):
      "\(address) cannot be reached: \(String(errorNumber: code))"
    case .connectionRefused(let address): "nobody listens at \(address)"
    case .portInUse(let address): "another program already listens at \(address)"
    case .addressUnavailable(let address, let code):
      "cannot listen at \(address): \(String(errorNumber: code))"
    case .notTLS: "the other side does not support TLS, so it is not notes"
    case .tlsVersionUnsupported: "the other side does not support TLS 1.3"
    case .protocolUnsupported: "the other side does not support the notes protocol"
    case .notebookUnknown: "the other device does not serve this notebook"
    case .invitationUnknown: "this invitation is not open"
    case .wrongCode: "the code is wrong"
    case .certificateRefused(let reason): "the other device \(reason)"
    case .refusedByPeer(let reason): "this device \(reason)"
    case .verificationFailed(let reason):
      "cannot check the other device's certificate: \(reason)"
    case .peerFailed: "an error occurred on the other device"
    case .tls(let call, let reasons):
      "\(call) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    case .timedOut(let phase): "the other device \(phase)"
    case .cancelled: "interrupted"
    case .closedByPeer: "the other device closed the connection"
    case .connectionLost: "the connection was lost"
    case .frameTooLarge(_, let length, let limit):
      "the other device broke the protocol: a frame of \(length) bytes; the limit is \(limit)"
    case .frameEmpty: "the other device broke the protocol: a frame without a type"
    case .system(let call, let code): "\(call): \(String(errorNumber: code))"
    }
  }
}

extension ChannelError.Phase: CustomStringConvertible {
  public var description: String {
    switch self {
    case .resolving: "has a name that could not be looked up in time"
    case .connecting, .handshake: "did not answer in time"
    case .sending, .receiving: "stopped answering"
    }
  }
}
