internal import COpenSSL
internal import OpenSSLLoader

/// The server's side of a TLS connection without a socket: calls pass network bytes in and out, so that an
/// event loop can transfer them. One thread owns it.
///
/// After an error it accepts no more bytes, but the result of `takeOutgoing`, an alert, must still be sent.
public final class BrowserTLS {
  private let context: BrowserTLSContext
  private let ssl: OpaquePointer
  /// The buffers for bytes from and to the network; they belong to `ssl`.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private var handshakeBytes = 0
  private var isBroken = false

  /// Whether the handshake is complete.
  public private(set) var isOpen = false
  /// Whether the other side has sent its close message.
  public private(set) var hasEnded = false

  /// The most bytes that a client may send before the handshake is complete. A client with
  /// post-quantum keys sends 2 KiB.
  public static let maximumHandshake = 32 << 10

  /// A connection that was just accepted.
  ///
  /// - Throws: `ChannelError.tls` if OpenSSL has no memory for it.
  public init(_ context: BrowserTLSContext) throws(ChannelError) {
    self.context = context
    let (library, crypto) = (context.library, context.library.crypto)
    crypto.ERR_clear_error()
    let ssl = try library.check("SSL_new", library.ssl.SSL_new(context.pointer))
    guard let incoming = crypto.BIO_new(crypto.BIO_s_mem()) else {
      library.ssl.SSL_free(ssl)
      throw library.failure("BIO_new")
    }
    guard let outgoing = crypto.BIO_new(crypto.BIO_s_mem()) else {
      _ = crypto.BIO_free(incoming)
      library.ssl.SSL_free(ssl)
      throw library.failure("BIO_new")
    }
    // Freeing `ssl` also frees both BIOs.
    context.ssl.SSL_set_bio(ssl, incoming, outgoing)
    (self.ssl, self.incoming, self.outgoing) = (ssl, incoming, outgoing)
  }

  deinit { context.library.ssl.SSL_free(ssl) }

  /// Decrypts bytes from the network.
  ///
  /// - Returns: the plain text; empty during the handshake.
  /// - Throws: `ChannelError.notTLS` and other errors for bytes that violate TLS.
  public func receive(_ bytes: UnsafeRawBufferPointer) throws(ChannelError) -> [UInt8] {
    guard !isBroken, !hasEnded else { return [] }
    if !isOpen {
      handshakeBytes += bytes.count
      guard handshakeBytes <= Self.maximumHandshake else {
        isBroken = true
        throw .tls(call: "SSL_accept", reasons: ["the handshake is too long"])
      }
    }
    // A memory BIO accepts all bytes unless memory runs out.
    if !bytes.isEmpty {
      let taken = context.crypto.BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
      guard taken == bytes.count else { throw broken("BIO_write") }
    }
    if !isOpen { try accept() }
    return isOpen ? try read() : []
  }

  private func accept() throws(ChannelError) {
    let lib = context.library.ssl
    context.library.crypto.ERR_clear_error()
    let result = lib.SSL_accept(ssl)
    if result == 1 {
      isOpen = true
    } else if lib.SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
      throw broken("SSL_accept")
    }
  }

  private func read() throws(ChannelError) -> [UInt8] {
    let lib = context.library.ssl
    var clear: [UInt8] = []
    while true {
      let before = clear.count
      clear.append(contentsOf: repeatElement(0, count: Self.recordSize))
      context.library.crypto.ERR_clear_error()
      let count = clear.withUnsafeMutableBytes { buffer in
        lib.SSL_read(ssl, buffer.baseAddress.map { $0 + before }, Int32(Self.recordSize))
      }
      clear.removeLast(Self.recordSize - max(Int(count), 0))
      if count > 0 { continue }
      switch lib.SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_READ: return clear
      case SSL_ERROR_ZERO_RETURN:
        hasEnded = true
        return clear
      default: throw broken("SSL_read")
      }
    }
  }

  /// The most bytes in a record (RFC 8446, section 5.1).
  private static let recordSize = 1 << 14

  /// Encrypts bytes to be sent, which `takeOutgoing` then returns.
  ///
  /// - Throws: an error if the handshake is not complete, or after an earlier error.
  public func send(_ clear: UnsafeRawBufferPointer) throws(ChannelError) {
    guard isOpen, !isBroken else { throw .closedByPeer }
    var rest = clear
    while !rest.isEmpty {
      context.library.crypto.ERR_clear_error()
      let count = context.library.ssl.SSL_write(
        ssl, rest.baseAddress, Int32(min(rest.count, 1 << 20)))
      guard count > 0 else { throw broken("SSL_write") }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(count)))
    }
  }

  /// Sends the close message: this side sends nothing more.
  public func end() {
    guard isOpen, !isBroken else { return }
    context.library.crypto.ERR_clear_error()
    _ = context.library.ssl.SSL_shutdown(ssl)
    context.library.crypto.ERR_clear_error()
  }

  /// Removes and returns the bytes to send to the network now.
  public func takeOutgoing() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: Self.recordSize)
    while true {
      let count = context.library.crypto.BIO_read(outgoing, &buffer, Int32(buffer.count))
      guard count > 0 else { return bytes }
      bytes += buffer[..<Int(count)]
    }
  }

  private func broken(_ call: String) -> ChannelError {
    isBroken = true
    let reasons = LoadedOpenSSL.drain()
    for reason in reasons.compactMap(\.ssl) {
      switch reason {
      case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW:
        return .tlsVersionUnsupported
      case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER,
        SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG:
        if !isOpen { return .notTLS }
      default: continue
      }
    }
    return .tls(call: call, reasons: reasons.map(\.text))
  }
}
