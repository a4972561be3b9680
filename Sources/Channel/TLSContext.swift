internal import COpenSSL
internal import Synchronization

/// An `SSL_CTX`: only TLS 1.3, without tickets, resumption, early data or compression. Resumption
/// is off because it skips the verification of certificates, so that a removed device could
/// reconnect. Sendable: nothing changes a context after its set-up, and threads may share one then
/// (openssl-threads(7)).
final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  private let library: OpenSSL

  enum Side { case client, server }

  init(_ side: Side, _ library: OpenSSL) throws(ChannelError) {
    self.library = library
    let lib = library.ssl
    let method = side == .client ? lib.TLS_client_method() : lib.TLS_server_method()
    pointer = try library.check("SSL_CTX_new", lib.SSL_CTX_new(method))
    for (call, bound) in [
      ("SSL_CTX_set_min_proto_version", SSL_CTRL_SET_MIN_PROTO_VERSION),
      ("SSL_CTX_set_max_proto_version", SSL_CTRL_SET_MAX_PROTO_VERSION),
    ] {
      try library.check(call, lib.SSL_CTX_ctrl(pointer, bound, Int(TLS1_3_VERSION), nil))
    }
    _ = lib.SSL_CTX_set_options(pointer, NOTES_SSL_OPTIONS)
    _ = lib.SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(NOTES_SSL_MEMBER_MODES), nil)
    _ = lib.SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    try library.check("SSL_CTX_set_num_tickets", lib.SSL_CTX_set_num_tickets(pointer, 0))
    if side == .server { lib.SSL_CTX_set_alpn_select_cb(pointer, Handshake.selectProtocol, nil) }
  }

  deinit { library.ssl.SSL_CTX_free(pointer) }

  /// The context of a server until the ClientHello names a notebook. All connections share one, as making a
  /// context takes longer than anything else that a stranger can cause.
  static let server = Result<TLSContext, ChannelError> { () throws(ChannelError) in
    let library = try OpenSSL.library()
    let context = try TLSContext(.server, library)
    library.ssl.SSL_CTX_set_client_hello_cb(context.pointer, Handshake.chooseContext, nil)
    return context
  }

  /// A server's context for a notebook. The last context is used again as long as its inputs are the same.
  static func server(
    for credentials: MemberCredentials, _ library: OpenSSL
  ) throws(ChannelError) -> TLSContext {
    try latest.withLock { latest throws(ChannelError) in
      if let (known, context) = latest, known.chain == credentials.chain,
        known.root == credentials.root, known.privateKey == credentials.privateKey
      {
        return context
      }
      let context = try member(.server, credentials, library)
      latest = (credentials, context)
      return context
    }
  }

  private static let latest = Mutex<(credentials: MemberCredentials, context: TLSContext)?>(nil)

  /// A context that offers the pre-shared key of a code, and has no certificates.
  static func pairingClient(_ library: OpenSSL) throws(ChannelError) -> TLSContext {
    let context = try TLSContext(.client, library)
    try context.setCiphersuites(Handshake.pairingCiphersuite)
    try context.offer(.pairing)
    library.ssl.SSL_CTX_set_psk_use_session_callback(context.pointer, Handshake.useKey)
    context.setVerification()
    return context
  }

  static func member(
    _ side: Side, _ credentials: MemberCredentials, _ library: OpenSSL
  ) throws(ChannelError) -> TLSContext {
    let context = try TLSContext(side, library)
    try context.setCiphersuites(
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
    if side == .client { try context.offer(.member) }
    try context.use(credentials)
    context.setVerification()
    return context
  }

  private func setCiphersuites(_ names: String) throws(ChannelError) {
    try library.check(
      "SSL_CTX_set_ciphersuites", library.ssl.SSL_CTX_set_ciphersuites(pointer, names))
  }

  private func offer(_ name: ApplicationProtocol) throws(ChannelError) {
    let list = name.list
    // Unlike similar functions, this one returns 0 for success.
    if library.ssl.SSL_CTX_set_alpn_protos(pointer, list, UInt32(list.count)) != 0 {
      throw library.failure("SSL_CTX_set_alpn_protos")
    }
  }

  private func setVerification() {
    let lib = library.ssl
    lib.SSL_CTX_set_verify(pointer, Handshake.verifyMode, nil)
    lib.SSL_CTX_set_verify_depth(pointer, Handshake.maximumChainLength)
    lib.SSL_CTX_set_cert_verify_callback(pointer, Handshake.verify, nil)
  }

  private func use(_ credentials: MemberCredentials) throws(ChannelError) {
    let (crypto, lib) = (library.crypto, library.ssl)
    let key = try library.check(
      "EVP_PKEY_new_raw_private_key",
      crypto.EVP_PKEY_new_raw_private_key(
        EVP_PKEY_ED25519, nil, credentials.privateKey, credentials.privateKey.count))
    defer { crypto.EVP_PKEY_free(key) }
    for (index, der) in credentials.chain.enumerated() {
      try withCertificate(der) { certificate throws(ChannelError) in
        if index == 0 {
          try library.check(
            "SSL_CTX_use_certificate", lib.SSL_CTX_use_certificate(pointer, certificate))
        } else {
          try library.check(
            "SSL_CTX_add1_chain_cert",
            lib.SSL_CTX_ctrl(pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)))
        }
      }
    }
    try library.check("SSL_CTX_use_PrivateKey", lib.SSL_CTX_use_PrivateKey(pointer, key))
    try library.check("SSL_CTX_check_private_key", lib.SSL_CTX_check_private_key(pointer))
    try withCertificate(credentials.root) { root throws(ChannelError) in
      let store = lib.SSL_CTX_get_cert_store(pointer)
      try library.check("X509_STORE_add_cert", crypto.X509_STORE_add_cert(store, root))
    }
  }

  private func withCertificate(
    _ der: [UInt8], _ body: (OpaquePointer) throws(ChannelError) -> Void
  ) throws(ChannelError) {
    let certificate = try der.withUnsafeBufferPointer { buffer throws(ChannelError) in
      var cursor = buffer.baseAddress
      return try library.check("d2i_X509", library.crypto.d2i_X509(nil, &cursor, buffer.count))
    }
    defer { library.crypto.X509_free(certificate) }
    try body(certificate)
  }
}
