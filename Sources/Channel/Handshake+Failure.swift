internal import COpenSSL
internal import OpenSSLLoader

extension Handshake {
  /// What a failed call of libssl means. `status` is its `SSL_get_error`.
  func error(_ call: String, status: Int32, isOver: Bool) -> ChannelError {
    let reasons = library.drain()
    if let failure { return failure }
    if status == SSL_ERROR_ZERO_RETURN { return .closedByPeer }
    if status == SSL_ERROR_SYSCALL { return .connectionLost }
    for reason in reasons.compactMap(\.ssl) {
      if let meaning = meaning(of: reason, isOver: isOver) { return meaning }
    }
    if !isOver && isServer && !sawHello { return .notTLS }
    return .tls(call: call, reasons: reasons.map(\.text))
  }

  private func meaning(of reason: Int32, isOver: Bool) -> ChannelError? {
    switch reason {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .connectionLost
    case SSL_R_BINDER_DOES_NOT_VERIFY: return .wrongCode
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return .certificateRefused(.missing)
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW:
      return .tlsVersionUnsupported
    case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER,
      SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG:
      return isOver ? nil : .notTLS
    case SSL_AD_REASON_OFFSET...SSL_AD_REASON_OFFSET + 255:
      return meaning(ofAlert: reason - SSL_AD_REASON_OFFSET, isOver: isOver)
    default: return nil
    }
  }

  private func meaning(ofAlert alert: Int32, isOver: Bool) -> ChannelError? {
    switch alert {
    case SSL_AD_CERTIFICATE_REVOKED: .refusedByPeer(.removed)
    case SSL_AD_CERTIFICATE_REQUIRED: .refusedByPeer(.missing)
    case SSL_AD_UNKNOWN_CA, SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE,
      SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN:
      .refusedByPeer(.stranger)
    case SSL_AD_INTERNAL_ERROR: .peerFailed
    case SSL_AD_UNRECOGNIZED_NAME: .notebookUnknown
    case SSL_AD_NO_APPLICATION_PROTOCOL: .protocolUnsupported
    case SSL_AD_PROTOCOL_VERSION: .tlsVersionUnsupported
    case SSL_AD_ILLEGAL_PARAMETER where chosen == .pairing && !isOver: .wrongCode
    case SSL_AD_HANDSHAKE_FAILURE where chosen == .pairing && !isOver: .invitationUnknown
    default: nil
    }
  }
}
