internal import System

extension ChannelError: CustomStringConvertible {
  /// What happened, as people are told: lower case, no full stop. Nothing in it was written by the
  /// peer.
  public var description: String {
    switch self {
    case .libraryMissing(let reason): "OpenSSL cannot be loaded: \(reason)"
    case .invalidAddress(let text): "'\(text)' is not an address"
    case .hostUnknown(let host, let reason): "the host \(host) is not known: \(reason)"
    case .unreachable(let address, let code):
      "\(address) cannot be reached: \(String(errorNumber: code))"
    case .connectionRefused(let address): "nobody listens at \(address)"
    case .portInUse(let address): "another program listens at \(address) already"
    case .addressUnavailable(let address, let code):
      "cannot listen at \(address): \(String(errorNumber: code))"
    case .notTLS: "the other end does not speak TLS, so it is not notes"
    case .tlsVersionUnsupported: "the other end speaks no TLS 1.3"
    case .protocolUnsupported: "the other end speaks no protocol of notes"
    case .notebookUnknown: "the other device does not serve this notebook"
    case .invitationUnknown: "the other device has no such invitation open"
    case .wrongCode: "the code is wrong"
    case .certificateRefused(let reason): "the other device \(reason)"
    case .refusedByPeer(let reason): "this device \(reason)"
    case .verificationFailed(let reason):
      "the other device's certificate could not be judged: \(reason)"
    case .peerFailed: "something failed on the other device"
    case .tls(let call, let reasons):
      "\(call) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    case .timedOut(let phase): "the other device \(phase)"
    case .cancelled: "interrupted"
    case .closedByPeer: "the other device ended the connection"
    case .connectionLost: "the connection was lost"
    case .frameTooLarge(_, let length, let limit):
      "the other device broke the protocol: a frame of \(length) bytes, where \(limit) are allowed"
    case .frameEmpty: "the other device broke the protocol: a frame without a type"
    case .system(let call, let code): "\(call): \(String(errorNumber: code))"
    }
  }
}

extension ChannelError.Phase: CustomStringConvertible {
  /// What the other device did not do.
  public var description: String {
    switch self {
    case .resolving: "has a name that could not be looked up in time"
    case .connecting, .handshake: "did not answer in time"
    case .sending, .receiving: "stopped answering"
    }
  }
}

extension CertificateRefusal: CustomStringConvertible {
  /// What is said of the device.
  public var description: String {
    switch self {
    case .stranger: "is not a member of the notebook"
    case .removed: "has been removed from the notebook"
    case .blocked: "is blocked on this device"
    case .missing: "showed no certificate"
    }
  }
}
