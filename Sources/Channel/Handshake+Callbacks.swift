internal import COpenSSL

// OpenSSL's callbacks. They run in the thread that calls SSL_accept or SSL_connect.
extension Handshake {
  private static func of(_ ssl: OpaquePointer?) -> Handshake? {
    // The library is always loaded here, because an SSL exists.
    guard let ssl, let library = try? OpenSSL.library(),
      let context = library.ssl.SSL_get_ex_data(ssl, 0)
    else { return nil }
    return Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
  }

  /// Called after the ClientHello and before the answer: chooses the context by ALPN and SNI.
  static let chooseContext: SSL_client_hello_cb_fn = { @Sendable ssl, alert, _ in
    guard let handshake = Handshake.of(ssl) else { return SSL_CLIENT_HELLO_ERROR }
    guard let refusal = handshake.choose() else { return SSL_CLIENT_HELLO_SUCCESS }
    alert?.pointee = refusal
    return SSL_CLIENT_HELLO_ERROR
  }

  private func choose() -> Int32? {
    let lib = library.ssl
    sawHello = true
    guard case .server(let offer) = side else { return SSL_AD_INTERNAL_ERROR }
    // Without TLS 1.3, OpenSSL itself refuses with the right alert.
    guard ClientHello.offersTLS13(helloExtension(TLSEXT_TYPE_supported_versions)) else {
      failure = .tlsVersionUnsupported
      return nil
    }
    let protocols = ClientHello.protocols(
      helloExtension(TLSEXT_TYPE_application_layer_protocol_negotiation))
    if protocols.contains(ApplicationProtocol.pairing.bytes) {
      chosen = .pairing
      lib.SSL_set_psk_find_session_callback(ssl, Handshake.findKey)
      _ = lib.SSL_set_ciphersuites(ssl, Handshake.pairingCiphersuite)
      return nil
    }
    guard protocols.contains(ApplicationProtocol.member.bytes) else {
      failure = .protocolUnsupported
      return SSL_AD_NO_APPLICATION_PROTOCOL
    }
    let name = ClientHello.serverName(helloExtension(TLSEXT_TYPE_server_name))
    guard let name, let credentials = offer.member(name) else {
      failure = .notebookUnknown
      return SSL_AD_UNRECOGNIZED_NAME
    }
    do {
      let context = try TLSContext.server(for: credentials, library)
      _ = try library.check("SSL_set_SSL_CTX", lib.SSL_set_SSL_CTX(ssl, context.pointer))
    } catch {
      failure = error
      return SSL_AD_INTERNAL_ERROR
    }
    lib.SSL_set_verify(ssl, Handshake.verifyMode, nil)
    lib.SSL_set_verify_depth(ssl, Handshake.maximumChainLength)
    self.credentials = credentials
    chosen = .member
    return nil
  }

  private func helloExtension(_ type: Int32) -> [UInt8] {
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    guard library.ssl.SSL_client_hello_get0_ext(ssl, UInt32(type), &bytes, &count) == 1, let bytes
    else { return [] }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  static let selectProtocol: SSL_CTX_alpn_select_cb_func = {
    @Sendable ssl, out, outLength, list, length, _ in
    guard let handshake = Handshake.of(ssl), let own = handshake.chosen?.list, let out else {
      return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    // The common protocol is a slice of the client's list, which outlives this call.
    let result = out.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 1) {
      handshake.library.ssl.SSL_select_next_proto(
        $0, outLength, list, length, own, UInt32(own.count))
    }
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
  }

  /// Looks up the key for an identity on a server. A missing key is not an error here: OpenSSL then
  /// has nothing to authenticate with, and refuses.
  static let findKey: SSL_psk_find_session_cb_func = { @Sendable ssl, bytes, count, session in
    session?.pointee = nil
    guard let handshake = Handshake.of(ssl), case .server(let offer) = handshake.side,
      handshake.chosen == .pairing
    else { return 0 }
    let identity = Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    handshake.identity = identity
    guard let key = offer.pairing(identity) else {
      handshake.failure = .invitationUnknown
      return 1
    }
    session?.pointee = handshake.session(key: key)
    return session?.pointee == nil ? 0 : 1
  }

  static let useKey: SSL_psk_use_session_cb_func = { @Sendable ssl, _, identity, count, session in
    session?.pointee = nil
    guard let handshake = Handshake.of(ssl), case .pairing(let own) = handshake.side else {
      return 0
    }
    identity?.pointee = UnsafePointer(handshake.identityCopy.baseAddress)
    count?.pointee = handshake.identityCopy.count
    session?.pointee = handshake.session(key: own.preSharedKey)
    return session?.pointee == nil ? 0 : 1
  }

  /// A pre-shared key in OpenSSL's form; OpenSSL takes ownership of it.
  private func session(key: [UInt8]) -> OpaquePointer? {
    let lib = library.ssl
    guard let session = lib.SSL_SESSION_new() else { return nil }
    let cipher = lib.SSL_CIPHER_find(ssl, [0x13, 0x01])
    if lib.SSL_SESSION_set1_master_key(session, key, key.count) == 1,
      lib.SSL_SESSION_set_cipher(session, cipher) == 1,
      lib.SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1
    {
      return session
    }
    lib.SSL_SESSION_free(session)
    return nil
  }

  typealias Verify = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32

  /// OpenSSL's own verification against the root, without times, followed by the check of `verify`.
  static let verify: Verify = { @Sendable context, _ in
    // OpenSSL calls this function, so it cannot throw; the result 0 refuses the peer.
    guard let context, let library = try? OpenSSL.library() else { return 0 }
    let ssl = library.crypto.X509_STORE_CTX_get_ex_data(
      context, library.ssl.SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let handshake = Handshake.of(ssl.map { OpaquePointer($0) }) else { return 0 }
    return handshake.isAccepted(context) ? 1 : 0
  }

  private func isAccepted(_ context: OpaquePointer) -> Bool {
    let crypto = library.crypto
    guard let credentials else {
      // Pairing: a peer with a certificate does not know the code.
      failure = .wrongCode
      crypto.X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
      return false
    }
    crypto.X509_STORE_CTX_set_flags(context, NOTES_NO_CHECK_TIME)
    if crypto.X509_verify_cert(context) != 1 {
      failure = .certificateRefused(.stranger)
      return false
    }
    let chain = certificates(crypto.X509_STORE_CTX_get0_chain(context)).filter {
      $0 != credentials.root
    }
    let error: Int32
    switch credentials.verify(chain) {
    case .accepted:
      peerChain = chain
      return true
    case .refused(let reason):
      failure = .certificateRefused(reason)
      error =
        reason == .removed ? X509_V_ERR_CERT_REVOKED : X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
    case .undecided(let reason):
      // The peer gets an internal error: it must not conclude that it is a stranger.
      (failure, error) = (.verificationFailed(reason), X509_V_ERR_UNSPECIFIED)
    }
    crypto.X509_STORE_CTX_set_error(context, error)
    return false
  }

  private func certificates(_ stack: OpaquePointer?) -> [[UInt8]] {
    let crypto = library.crypto
    return (0..<max(crypto.OPENSSL_sk_num(stack), 0)).map { index in
      let certificate = crypto.OPENSSL_sk_value(stack, index).map { OpaquePointer($0) }
      let size = crypto.i2d_X509(certificate, nil)
      if size <= 0 { return [] }
      return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
        var cursor = buffer.baseAddress
        count = max(Int(crypto.i2d_X509(certificate, &cursor)), 0)
      }
    }
  }
}
