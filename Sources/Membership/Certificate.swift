internal import COpenSSL
internal import Glibc
internal import System

/// A certificate of the profile in notes-security(7), taken apart. Its form has been checked; its
/// signature has not.
struct Certificate: Hashable, Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumSize = 2048

  let der: [UInt8]
  /// 16 bytes, zeros in front.
  let serial: [UInt8]
  /// The names as they are encoded: they are compared byte by byte.
  let issuer: [UInt8]
  let subject: [UInt8]
  let publicKey: [UInt8]
  let keyIdentifier: [UInt8]
  let issuerKeyIdentifier: [UInt8]
  let issuedAt: Int64
  /// The serial number of the certificate in whose place this one was issued: a removal of that
  /// one is a removal of this one.
  let replaced: [UInt8]?
  let kind: Kind

  enum Kind: Hashable, Sendable {
    case root(notebookID: String, notebookName: String)
    case member(name: String, role: Role)
  }

  /// Whether it may sign certificates and revocation lists.
  var isAuthority: Bool {
    switch kind {
    case .root: true
    case .member(_, let role): role == .admin
    }
  }

  var deviceID: String { String(base32: keyIdentifier) }
  var issuerID: String { String(base32: issuerKeyIdentifier) }

  /// Reads DER. Throws the first `CertificateDefect`.
  init(der: [UInt8]) throws {
    let lib = try OpenSSL.library()
    self = try OpenSSL.reading(
      der, atMost: Certificate.maximumSize, { lib.d2i_X509(nil, $0, $1) },
      free: { lib.X509_free($0) }, { try Certificate(certificate: $0, der: der, lib) })
  }

  private init(certificate: OpaquePointer, der: [UInt8], _ lib: libcrypto) throws {
    let encoded = try OpenSSL.encoding("i2d_X509", lib) { lib.i2d_X509(certificate, $0) }
    if encoded != der { throw CertificateDefect.encoding }
    if lib.X509_get_version(certificate) != 2 { throw CertificateDefect.version }
    if lib.X509_get_signature_nid(certificate) != NID_ED25519 {
      throw CertificateDefect.algorithm
    }
    self.der = der
    serial = try Serial.read(lib.X509_get0_serialNumber(certificate), lib)
    let subjectName = lib.X509_get_subject_name(certificate)
    let issuerName = lib.X509_get_issuer_name(certificate)
    subject = try OpenSSL.encoding("i2d_X509_NAME", lib) { lib.i2d_X509_NAME(subjectName, $0) }
    issuer = try OpenSSL.encoding("i2d_X509_NAME", lib) { lib.i2d_X509_NAME(issuerName, $0) }
    publicKey = try PublicKey.raw(of: lib.X509_get0_pubkey(certificate), lib)
    keyIdentifier = try PublicKey.identifier(publicKey)
    var time = tm()
    guard lib.ASN1_TIME_to_tm(lib.X509_get0_notBefore(certificate), &time) == 1 else {
      throw CertificateDefect.validity
    }
    issuedAt = Int64(timegm(&time))

    let attributes = try DistinguishedName.attributes(subjectName, lib)
    kind = try Certificate.kind(of: attributes, isSelfIssued: issuer == subject)
    let extensions = try Extensions(of: certificate, lib)
    guard extensions.keyIdentifier == keyIdentifier else { throw CertificateDefect.extensions }
    guard let authority = extensions.authorityKeyIdentifier else {
      throw CertificateDefect.extensions
    }
    issuerKeyIdentifier = authority
    replaced = extensions.replaced
    let usage: Extensions.Usage = isAuthority ? .authority : .endEntity
    if extensions.usage != usage { throw CertificateDefect.extensions }
  }

  private static func kind(of attributes: [DistinguishedName.Attribute], isSelfIssued: Bool) throws
    -> Kind
  {
    guard attributes.count == 2, attributes[0].identifier == NID_commonName else {
      throw CertificateDefect.subject
    }
    switch (attributes[1].identifier, isSelfIssued) {
    case (NID_organizationName, true):
      try checkName(attributes[1].value)
      return .root(notebookID: attributes[0].value, notebookName: attributes[1].value)
    case (NID_organizationalUnitName, false):
      try checkName(attributes[0].value)
    default:
      throw CertificateDefect.subject
    }
    guard let role = Role(rawValue: attributes[1].value) else { throw CertificateDefect.role }
    return .member(name: attributes[0].value, role: role)
  }

  static func checkName(_ name: String) throws(CertificateDefect) {
    do {
      try DisplayName.check(name)
    } catch {
      throw .name(error)
    }
  }

  /// Whether the signature is `issuer`'s, and `issuer` one that may give it.
  func isSigned(by issuer: Certificate) throws -> Bool {
    try issuer.hasSigned(for: self.issuer, issuerKeyIdentifier) { key, lib in
      OpenSSL.decoding(der, { lib.d2i_X509(nil, $0, $1) }, free: { lib.X509_free($0) }) {
        lib.X509_verify($0, key) == 1
      } ?? false
    }
  }

  /// Whether this is the authority of that name and key, and `verify` finds its signature.
  func hasSigned(
    for name: [UInt8], _ identifier: [UInt8],
    verify: (_ key: OpaquePointer, _ lib: libcrypto) throws -> Bool
  ) throws -> Bool {
    guard isAuthority, keyIdentifier == identifier, subject == name else { return false }
    let lib = try OpenSSL.library()
    return try PublicKey.with(publicKey, lib) { try verify($0, lib) }
  }
}
