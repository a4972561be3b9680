internal import System

extension ChannelError: CustomStringConvertible {
  /// One line for logs: lower case, no full stop. Nothing in it was written by the peer.
  public var description: String {
    switch self {
    case .libraryMissing(let reason): "OpenSSL could not be loaded: \(reason)"
    case .invalidAddress(let text): "'\(text)' is not HOST:PORT or [IPV6]:PORT"
    case .hostUnknown(let host, let reason): "\(host) has no address: \(reason)"
    case .unreachable(let address, let code):
      "\(address) cannot be reached: \(String(errorNumber: code))"
    case .connectionRefused(let address): "nobody listens at \(address)"
    case .portInUse(let address): "the port of \(address) is in use"
    case .addressUnavailable(let address, let code):
      "cannot listen at \(address): \(String(errorNumber: code))"
    case .notTLS: "the other end does not speak TLS"
    case .tlsVersionUnsupported: "the other end does not speak TLS 1.3"
    case .protocolUnsupported: "the other end speaks no protocol known here"
    case .notebookUnknown: "the notebook is not served there"
    case .invitationUnknown: "no such invitation is open there"
    case .wrongCode: "wrong code"
    case .certificateRefused(let reason): "certificate refused: \(reason)"
    case .refusedByPeer(let reason): "refused by the other end: \(reason)"
    case .verificationFailed(let reason): "the certificate could not be judged: \(reason)"
    case .peerFailed: "something failed at the other end"
    case .tls(let call, let reasons):
      "TLS failed in \(call): \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    case .timedOut(let phase): "no answer in time while \(phase)"
    case .cancelled: "cancelled"
    case .closedByPeer: "the other end has closed the connection"
    case .connectionLost: "the connection was lost"
    case .frameTooLarge(_, let length, let limit):
      "a frame of \(length) bytes came, more than the \(limit) allowed"
    case .frameEmpty: "a frame without a type came"
    case .system(let call, let code): "\(call) failed: \(String(errorNumber: code))"
    }
  }

}

extension ChannelError.Phase: CustomStringConvertible {
  public var description: String {
    switch self {
    case .resolving: "looking up the host"
    case .connecting: "connecting"
    case .handshake: "shaking hands"
    case .sending: "sending"
    case .receiving: "receiving"
    }
  }
}

extension CertificateRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stranger: "not a member of the notebook"
    case .removed: "removed from the notebook"
    case .blocked: "blocked on this device"
    case .missing: "no certificate"
    }
  }
}
