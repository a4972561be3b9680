internal import COpenSSL
internal import OpenSSLLoader

/// TLS for browsers: notes-security(7), THE PAGE ON THE NETWORK. TLS 1.3, and 1.2 only with ephemeral
/// keys and authenticated ciphers; no tickets, resumption, compression or renegotiation; HTTP/1.1 by
/// ALPN. Sendable: nothing changes a context after its set-up, and threads may then share one
/// (openssl-threads(7)).
public final class BrowserTLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  let library: OpenSSL
  let crypto: libcrypto_page
  let ssl: libssl_page

  /// The TLS 1.2 suites for a certificate with an elliptic-curve key.
  private static let formerSuites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305"
  private static let protocolName = Array("http/1.1".utf8)

  /// - Parameters:
  ///   - chain: in DER, the server's certificate first.
  ///   - privateKey: its key, in PEM.
  /// - Throws: `ChannelError.tls` for an invalid certificate, or a key that does not belong to it.
  public init(chain: [[UInt8]], privateKey: [UInt8]) throws(ChannelError) {
    library = try OpenSSL.library()
    do throws(LoadedOpenSSL.Failure) {
      crypto = try LoadedOpenSSL.cryptoOfPage.get()
      ssl = try LoadedOpenSSL.sslOfPage.get()
    } catch {
      throw .libraryMissing(error.reason)
    }
    let lib = library.ssl
    library.crypto.ERR_clear_error()
    pointer = try library.check("SSL_CTX_new", lib.SSL_CTX_new(lib.TLS_server_method()))
    for (call, bound, version) in [
      ("SSL_CTX_set_min_proto_version", SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION),
      ("SSL_CTX_set_max_proto_version", SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION),
    ] {
      try library.check(call, lib.SSL_CTX_ctrl(pointer, bound, Int(version), nil))
    }
    _ = lib.SSL_CTX_set_options(pointer, NOTES_SSL_OPTIONS)
    _ = lib.SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(NOTES_SSL_MODES), nil)
    _ = lib.SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    try library.check("SSL_CTX_set_num_tickets", lib.SSL_CTX_set_num_tickets(pointer, 0))
    try library.check(
      "SSL_CTX_set_cipher_list", ssl.SSL_CTX_set_cipher_list(pointer, Self.formerSuites))
    lib.SSL_CTX_set_alpn_select_cb(pointer, Self.selectProtocol, nil)
    for (index, der) in chain.enumerated() { try add(der, isOwn: index == 0) }
    try use(privateKey)
    try library.check("SSL_CTX_check_private_key", lib.SSL_CTX_check_private_key(pointer))
  }

  deinit { library.ssl.SSL_CTX_free(pointer) }

  private func add(_ der: [UInt8], isOwn: Bool) throws(ChannelError) {
    let certificate = try der.withUnsafeBufferPointer { buffer throws(ChannelError) in
      var cursor = buffer.baseAddress
      return try library.check("d2i_X509", library.crypto.d2i_X509(nil, &cursor, buffer.count))
    }
    defer { library.crypto.X509_free(certificate) }
    if isOwn {
      try library.check(
        "SSL_CTX_use_certificate", library.ssl.SSL_CTX_use_certificate(pointer, certificate))
    } else {
      try library.check(
        "SSL_CTX_add1_chain_cert",
        library.ssl.SSL_CTX_ctrl(
          pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)))
    }
  }

  private func use(_ pem: [UInt8]) throws(ChannelError) {
    let lib = library.crypto
    // The BIO reads the bytes in place, so they must not move until it is freed.
    try pem.withUnsafeBufferPointer { pem throws(ChannelError) in
      let memory = try library.check(
        "BIO_new_mem_buf", lib.BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)))
      defer { _ = lib.BIO_free(memory) }
      // Without a callback OpenSSL would ask at the terminal.
      let key = try library.check(
        "PEM_read_bio_PrivateKey",
        lib.PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil))
      defer { lib.EVP_PKEY_free(key) }
      try library.check("SSL_CTX_use_PrivateKey", library.ssl.SSL_CTX_use_PrivateKey(pointer, key))
    }
  }

  /// Chooses the protocol from the client's list of names, each with its length before it. A client without
  /// ALPN is also served, because not all clients use it.
  private static let selectProtocol: SSL_CTX_alpn_select_cb_func = {
    @Sendable _, out, outLength, list, length, _ in
    var place = 0
    while let list, place < Int(length) {
      let size = Int(list[place])
      guard size > 0, place + 1 + size <= Int(length) else { break }
      let name = UnsafeBufferPointer(start: list + place + 1, count: size)
      if name.elementsEqual(BrowserTLSContext.protocolName) {
        // The name is in the client's list, which outlives this call.
        out?.pointee = name.baseAddress
        outLength?.pointee = UInt8(size)
        return SSL_TLSEXT_ERR_OK
      }
      place += 1 + size
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }
}
