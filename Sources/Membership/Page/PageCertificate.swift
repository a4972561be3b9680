internal import COpenSSL
internal import Glibc
internal import OpenSSLLoader

/// The certificate that a page shows to browsers, and its key.
public struct PageCertificate: Sendable {
  /// The certificates in DER: the page's own first, the root last.
  public let chain: [[UInt8]]
  /// The private key in PEM, which is secret.
  public let privateKey: [UInt8]

  /// The SHA-256 of the page's own certificate, as browsers show it.
  ///
  /// - Throws: `MembershipError.library`.
  public func fingerprint() throws -> String { try PageAuthority.fingerprint(of: chain[0]) }

  /// A certificate for `key` with the name `subject`, signed by `issuer`, or self-signed.
  static func make(
    subject: String, key: PageKey, issuer: [UInt8]?, signedWith issuerKey: PageKey,
    from start: Int64,
    until end: Int64, extensions: [PageExtension]
  ) throws -> [UInt8] {
    // The serial number is positive, and its encoding has the same length in every certificate.
    var serial = try OpenSSL.random(Serial.size)
    serial[0] = serial[0] & 0x3F | 0x40
    let identifiers: [Certificate.AnyExtension] = [
      (
        Extension.subjectKeyIdentifier.rawValue, false,
        Extension.keyIdentifierPrefix + (try key.identifier())
      ),
      (
        Extension.authorityKeyIdentifier.rawValue, false,
        Extension.authorityPrefix + (try issuerKey.identifier())
      ),
    ]
    return try Certificate.signed(
      subject: [(NID_organizationName, "notes"), (NID_commonName, String(subject.prefix(64)))],
      issuer: issuer, serial: serial, from: start, until: end, publicKey: key.pointer,
      extensions: extensions.map { ($0.identifier, $0.isCritical, $0.value) } + identifiers,
      by: issuerKey.pointer, digest: OpenSSL.library().EVP_sha256())
  }

  static func pem(_ der: [UInt8]) throws -> [UInt8] {
    let page = try PageKey.library()
    return try Certificate.decoding(der) { certificate, _ in
      try DeviceKey.pem("PEM_write_bio_X509") { memory, _ in
        page.PEM_write_bio_X509(memory, certificate)
      }
    }
  }
}

/// A key on the curve P-256, which all browsers support.
final class PageKey {
  let pointer: OpaquePointer
  private let free: (OpaquePointer) -> Void

  private static let bits: Int32 = 256

  private init(takingOwnership pointer: OpaquePointer, _ lib: libcrypto) {
    _ = CoreDumps.off
    self.pointer = pointer
    free = { lib.EVP_PKEY_free($0) }
  }

  /// Makes a new key.
  convenience init() throws {
    let lib = try OpenSSL.library()
    let page = try Self.library()
    let context = try OpenSSL.check(
      "EVP_PKEY_CTX_new_id", page.EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil))
    defer { page.EVP_PKEY_CTX_free(context) }
    try OpenSSL.check("EVP_PKEY_keygen_init", page.EVP_PKEY_keygen_init(context))
    try OpenSSL.check(
      "EVP_PKEY_CTX_set_group_name", page.EVP_PKEY_CTX_set_group_name(context, "P-256"))
    var made: OpaquePointer?
    try OpenSSL.check("EVP_PKEY_generate", page.EVP_PKEY_generate(context, &made))
    self.init(takingOwnership: try OpenSSL.check("EVP_PKEY_generate", made), lib)
  }

  deinit { free(pointer) }

  static func library() throws -> libcrypto_page {
    do throws(LoadedOpenSSL.Failure) {
      return try LoadedOpenSSL.cryptoOfPage.get()
    } catch {
      throw MembershipError.libraryMissing(error.reason)
    }
  }

  func pem() throws -> [UInt8] {
    try DeviceKey.pem("PEM_write_bio_PKCS8PrivateKey") {
      $1.PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil)
    }
  }

  /// The SHA-256 of the SubjectPublicKeyInfo.
  func identifier() throws -> [UInt8] {
    let page = try Self.library()
    return try OpenSSL.sha256(OpenSSL.encoding("i2d_PUBKEY") { page.i2d_PUBKEY(pointer, $0) })
  }

  /// Whether a certificate is for this key.
  func isKey(of der: [UInt8]) throws -> Bool {
    let page = try Self.library()
    let isIt = try Certificate.decoding(der) { certificate, _ in
      page.X509_check_private_key(certificate, pointer) == 1
    }
    _ = LoadedOpenSSL.drain()
    return isIt
  }

  static func with<Value>(pem: [UInt8], _ body: (PageKey) throws -> Value) throws -> Value {
    guard let (key, _) = try read(pem, withCertificates: false) else {
      throw OpenSSL.failure("PEM_read_bio_PrivateKey")
    }
    return try body(key)
  }

  /// The key in PEM, and the certificates after it in DER; nil if the text has no key of this kind.
  static func parts(of pem: [UInt8]) throws -> (key: [UInt8], certificates: [[UInt8]])? {
    guard let (key, certificates) = try read(pem, withCertificates: true) else { return nil }
    return (try key.pem(), certificates)
  }

  private static func read(
    _ pem: [UInt8], withCertificates: Bool
  ) throws -> (PageKey, [[UInt8]])? {
    let lib = try OpenSSL.library()
    let page = try library()
    defer { _ = LoadedOpenSSL.drain() }
    // The BIO reads the bytes in place, so they must not move until it is freed.
    return try pem.withUnsafeBytes { pem in
      let memory = try OpenSSL.check(
        "BIO_new_mem_buf", lib.BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)))
      defer { _ = lib.BIO_free(memory) }
      // Without a callback OpenSSL would ask at the terminal.
      let read = lib.PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
      guard let read else { return nil }
      let key = PageKey(takingOwnership: read, lib)
      guard lib.EVP_PKEY_get_id(read) == EVP_PKEY_EC, page.EVP_PKEY_get_bits(read) == bits else {
        return nil
      }
      var certificates: [[UInt8]] = []
      while withCertificates, certificates.count < 3,
        let certificate = page.PEM_read_bio_X509(memory, nil, { _, _, _, _ in -1 }, nil)
      {
        defer { lib.X509_free(certificate) }
        certificates.append(try OpenSSL.encoding("i2d_X509") { lib.i2d_X509(certificate, $0) })
      }
      return (key, certificates)
    }
  }
}
