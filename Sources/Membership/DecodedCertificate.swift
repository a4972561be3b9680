internal import COpenSSL

/// A certificate and the library's own form of it. Decoding takes longer than verifying, so a certificate that
/// was just read is not decoded again to be verified.
final class DecodedCertificate {
  let certificate: Certificate
  private let decoded: OpaquePointer
  private let lib: libcrypto

  /// - Throws: `CertificateDefect`.
  init(der: [UInt8]) throws {
    (decoded, lib) = try OpenSSL.decoded(
      der, atMost: Certificate.maximumSize, Certificate.decode, free: Certificate.free)
    do {
      certificate = try Certificate(certificate: decoded, der: der, lib)
    } catch {
      Certificate.free(lib, decoded)
      throw error
    }
  }

  deinit { Certificate.free(lib, decoded) }

  func isSigned(by issuer: Certificate) throws -> Bool {
    try issuer.hasSigned(for: certificate.issuer, certificate.issuerKeyIdentifier) { key in
      lib.X509_verify(decoded, key) == 1
    }
  }
}
