internal import COpenSSL
internal import OpenSSLLoader
internal import System

/// An `SSL`, with the inputs and results of its handshake; OpenSSL's callbacks reach it through the
/// `SSL`. One thread owns it.
final class Handshake {
  enum Side {
    case member(MemberCredentials)
    case pairing(PairingCredentials)
    case server(ServerOffer)
  }

  let side: Side
  let library: OpenSSL
  let ssl: OpaquePointer

  /// Whether a ClientHello was read. An error before that means that the client does not speak TLS.
  var sawHello = false
  var chosen: ApplicationProtocol?
  /// The credentials for the notebook: on a server the requested one, on a client its own.
  var credentials: MemberCredentials?
  var peerChain: [[UInt8]] = []
  var identity: [UInt8] = []
  /// A reason that is not in OpenSSL's error queue.
  var failure: ChannelError?
  /// Stores the identity, which OpenSSL reads after the callback has returned.
  let identityCopy: UnsafeMutableBufferPointer<UInt8>

  static let maximumChainLength: Int32 = 8
  static let pairingCiphersuite = "TLS_AES_128_GCM_SHA256"
  static let verifyMode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT

  init(_ side: Side, _ library: OpenSSL) throws(ChannelError) {
    self.side = side
    self.library = library
    let context: TLSContext
    switch side {
    case .member(let own):
      context = try .member(.client, own, library)
      (credentials, chosen) = (own, .member)
    case .pairing(let pairing):
      context = try .pairingClient(library)
      (identity, chosen) = (pairing.identity, .pairing)
    case .server: context = try TLSContext.server.get()
    }
    ssl = try library.check("SSL_new", library.ssl.SSL_new(context.pointer))
    identityCopy = .allocate(capacity: identity.count)
    _ = identityCopy.initialize(from: identity)
    _ = library.ssl.SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    if case .member(let credentials) = side {
      var name = Array(credentials.notebookID.utf8CString)
      try library.check(
        "SSL_set_tlsext_host_name",
        library.ssl.SSL_ctrl(
          ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name))
    }
  }

  deinit {
    library.ssl.SSL_free(ssl)
    identityCopy.deallocate()
  }

  func run(
    on socket: Socket, deadline: Instant, cancellation: CancellationToken?
  ) throws -> Connection.Purpose {
    let lib = library.ssl
    var offer: ServerOffer?
    if case .server(let own) = side { offer = own }
    try library.check("SSL_set_fd", lib.SSL_set_fd(ssl, socket.descriptor))
    defer { offer?.answered() }
    while true {
      library.crypto.ERR_clear_error()
      let result = offer == nil ? lib.SSL_connect(ssl) : lib.SSL_accept(ssl)
      if result == 1 { break }
      let status = lib.SSL_get_error(ssl, result)
      guard let events = Wait.Events(status: status) else {
        throw error(offer == nil ? "SSL_connect" : "SSL_accept", status: status, isOver: false)
      }
      offer?.answered()
      try Wait.until(
        socket.descriptor, events, deadline: deadline, phase: .handshake,
        cancellation: cancellation)
    }
    if let failure { throw failure }
    return try checkedPurpose()
  }

  /// Checks the negotiated parameters once more, so that nothing depends on OpenSSL's choice.
  private func checkedPurpose() throws(ChannelError) -> Connection.Purpose {
    let lib = library.ssl
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    lib.SSL_get0_alpn_selected(ssl, &name, &length)
    let selected = Array(UnsafeBufferPointer(start: name, count: name == nil ? 0 : Int(length)))
    guard let chosen, selected == chosen.bytes else { throw .protocolUnsupported }
    switch chosen {
    case .member:
      guard let credentials, !peerChain.isEmpty, lib.SSL_session_reused(ssl) == 0 else {
        throw .certificateRefused(.missing)
      }
      return .member(notebookID: credentials.notebookID, peerChain: peerChain)
    case .pairing:
      // OpenSSL counts a pre-shared key as resumption.
      if lib.SSL_session_reused(ssl) != 1 { throw .wrongCode }
      return .pairing(identity: identity)
    }
  }

  func error(_ call: String, status: Int32, isOver: Bool) -> ChannelError {
    let reasons = LoadedOpenSSL.drain()
    if let failure { return failure }
    if status == SSL_ERROR_ZERO_RETURN { return .closedByPeer }
    if status == SSL_ERROR_SYSCALL { return .connectionLost }
    for reason in reasons.compactMap(\.ssl) {
      if let meaning = meaning(of: reason, isOver: isOver) { return meaning }
    }
    if case .server = side, !isOver, !sawHello { return .notTLS }
    return .tls(call: call, reasons: reasons.map(\.text))
  }

  private func meaning(of reason: Int32, isOver: Bool) -> ChannelError? {
    switch reason {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: .connectionLost
    case SSL_R_BINDER_DOES_NOT_VERIFY: .wrongCode
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .certificateRefused(.missing)
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW:
      .tlsVersionUnsupported
    case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER,
      SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG:
      isOver ? nil : .notTLS
    case SSL_AD_REASON_OFFSET...SSL_AD_REASON_OFFSET + 255:
      meaning(ofAlert: reason - SSL_AD_REASON_OFFSET, isOver: isOver)
    default: nil
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
    // Since 3.5, OpenSSL sends `decrypt_error`.
    case SSL_AD_ILLEGAL_PARAMETER where chosen == .pairing && !isOver: .wrongCode
    case SSL_AD_DECRYPT_ERROR where chosen == .pairing && !isOver: .wrongCode
    case SSL_AD_HANDSHAKE_FAILURE where chosen == .pairing && !isOver: .invitationUnknown
    default: nil
    }
  }
}
