internal import COpenSSL
internal import Glibc
internal import System

/// A decoded certificate of the profile in notes-security(7). Its form was checked, its signature
/// was not.
struct Certificate: Hashable, Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumSize = 2048

  let der: [UInt8]
  let fingerprint: Fingerprint
  /// 16 bytes, padded with zeros in front.
  let serial: [UInt8]
  /// The issuer's name, encoded: names are compared byte by byte.
  let issuer: [UInt8]
  let subject: [UInt8]
  let publicKey: [UInt8]
  let keyIdentifier: [UInt8]
  let issuerKeyIdentifier: [UInt8]
  let issuedAt: Int64
  /// The serial number of the certificate that this one replaced. Removing that certificate also removes this
  /// one.
  let replaced: [UInt8]?
  /// For a handover: the serial number of the certificate with which its signer stays an admin.
  /// `CertificateSet.succession` says which handovers count.
  let staying: [UInt8]?
  /// The serial number of the certificate of the device that asked for this one; nil if an admin's device
  /// invited the device. `CountingLists` decides when the loss of the asker's certificate also ends this one.
  let asker: [UInt8]?
  /// The statement of a claim or a stop; nil for every other certificate.
  let claimed: ClaimStatement?
  /// For a root: the ID of the notebook that it claims to continue.
  let continued: String?
  /// The person that the certificate names; nil if it names none. `CertificateSet.people` decides which person
  /// the device belongs to.
  let person: Person?
  let kind: Kind

  enum Kind: Hashable, Sendable {
    case root(notebookID: String, notebookName: String)
    case member(name: String, role: Role)
    /// An admin's name for the notebook: notes-security(7), "The notebook's name".
    case name(notebookID: String, notebookName: String)
    /// A claim to be the founder, or the stop of one, by the device with this name: notes-security(7), "A lost founder".
    case claim(name: String)
    case stop(name: String)
  }

  /// The key and name by which certificates and lists refer to their signer.
  struct Authority: Hashable, Sendable {
    let keyIdentifier: [UInt8]
    let name: [UInt8]

    func hash(into hasher: inout Hasher) {
      hasher.combine(atOnce: keyIdentifier[...])
      hasher.combine(atOnce: name[...])
    }
  }

  var role: Role {
    switch kind {
    case .root: .admin
    case .member(_, let role): role
    // Names, claims and stops certify no device.
    case .name, .claim, .stop: .reader
    }
  }

  /// Whether the certificate's key may sign certificates and revocation lists.
  var isAuthority: Bool { role == .admin }
  /// Whether the signer makes the device the founder in its place.
  var isHandover: Bool { isAuthority && staying != nil }
  /// The key and name under which the certificate's device signs; nil if it may not sign.
  var authority: Authority? {
    isAuthority ? Authority(keyIdentifier: keyIdentifier, name: subject) : nil
  }
  var signer: Authority { Authority(keyIdentifier: issuerKeyIdentifier, name: issuer) }

  var deviceID: String { String(base32: keyIdentifier) }
  var issuerID: String { String(base32: issuerKeyIdentifier) }

  init(der: [UInt8]) throws {
    self = try DecodedCertificate(der: der).certificate
  }

  static func decoding<Value>(
    _ der: [UInt8], _ body: (OpaquePointer, libcrypto) throws -> Value
  ) throws -> Value {
    try OpenSSL.decoding(der, atMost: maximumSize, decode, free: free, body)
  }

  static func decode(
    _ lib: libcrypto, _ der: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ size: Int
  ) -> OpaquePointer? { lib.d2i_X509(nil, der, size) }
  static func free(_ lib: libcrypto, _ certificate: OpaquePointer?) { lib.X509_free(certificate) }

  init(certificate: OpaquePointer, der: [UInt8], _ lib: libcrypto) throws {
    let encoded = try OpenSSL.encoding("i2d_X509") { lib.i2d_X509(certificate, $0) }
    if encoded != der { throw CertificateDefect.encoding }
    if lib.X509_get_version(certificate) != 2 { throw CertificateDefect.version }
    if lib.X509_get_signature_nid(certificate) != NID_ED25519 { throw CertificateDefect.algorithm }
    self.der = der
    fingerprint = try Fingerprint(of: der)
    serial = try Serial.read(lib.X509_get0_serialNumber(certificate), lib)
    let subjectName = lib.X509_get_subject_name(certificate)
    let issuerName = lib.X509_get_issuer_name(certificate)
    subject = try OpenSSL.encoding("i2d_X509_NAME") { lib.i2d_X509_NAME(subjectName, $0) }
    issuer = try OpenSSL.encoding("i2d_X509_NAME") { lib.i2d_X509_NAME(issuerName, $0) }
    publicKey = try PublicKey.raw(of: lib.X509_get0_pubkey(certificate), lib)
    keyIdentifier = try PublicKey.identifier(publicKey)
    issuedAt = try Validity.seconds(lib.X509_get0_notBefore(certificate), lib)
    let extensions = try Extension.read(lib.X509_get_ext_count(certificate), lib) {
      lib.X509_get_ext(certificate, $0)
    }
    let isAuthority =
      extensions[.basicConstraints] == Extension.usage(ofAuthority: true)[.basicConstraints]
    kind = try Certificate.kind(
      of: DistinguishedName.attributes(subjectName, lib),
      isRoot: isAuthority && issuer == subject)
    let authority = Extension.stripped(
      Extension.authorityPrefix, extensions[.authorityKeyIdentifier])
    replaced = Extension.stripped(Extension.serialPrefix, extensions[.replaces], size: Serial.size)
    staying = Extension.stripped(Extension.serialPrefix, extensions[.handover], size: Serial.size)
    asker = Extension.stripped(Extension.serialPrefix, extensions[.asker], size: Serial.size)
    let statement = Extension.stripped(Extension.claimPrefix, extensions[.claim], size: 64)
    claimed = ClaimStatement(kind, statement)
    continued = Extension.stripped(Extension.keyIdentifierPrefix, extensions[.continues])
      .map { String(base32: $0).lowercased() }
    person = try extensions[.person].map { try Person(der: $0) }
    guard let authority, (replaced == nil) == (extensions[.replaces] == nil),
      (staying == nil) == (extensions[.handover] == nil),
      (asker == nil) == (extensions[.asker] == nil),
      (claimed == nil) == (extensions[.claim] == nil), kind.isStatement == (claimed != nil),
      [nil, Extension.null].contains(extensions[.signsVersions]),
      extensions[.subjectKeyIdentifier] == Extension.keyIdentifierPrefix + keyIdentifier
    else { throw CertificateDefect.extensions }
    issuerKeyIdentifier = authority
    let usage = Extension.usage(ofAuthority: role == .admin)
    if usage.contains(where: { extensions[$0.key] != $0.value }) {
      throw CertificateDefect.extensions
    }
  }

  static func == (left: Self, right: Self) -> Bool { left.fingerprint == right.fingerprint }
  func hash(into hasher: inout Hasher) { fingerprint.hash(into: &hasher) }

  private static func kind(
    of attributes: [DistinguishedName.Attribute], isRoot: Bool
  ) throws -> Kind {
    guard attributes.count == 2, attributes[0].type == NID_commonName else {
      throw CertificateDefect.subject
    }
    let (first, second) = (attributes[0].value, attributes[1].value)
    switch (attributes[1].type, isRoot) {
    case (NID_organizationName, _):
      try checkName(second)
      return isRoot
        ? .root(notebookID: first, notebookName: second)
        : .name(notebookID: first, notebookName: second)
    case (NID_organizationalUnitName, false):
      try checkName(first)
      // Programs that do not know claims and stops refuse both as certificates with an unknown role.
      if second == Kind.claimWord { return .claim(name: first) }
      if second == Kind.stopWord { return .stop(name: first) }
      guard let role = Role(rawValue: second) else { throw CertificateDefect.role }
      return .member(name: first, role: role)
    default: throw CertificateDefect.subject
    }
  }

  static func checkName(_ name: String) throws(CertificateDefect) {
    do {
      try DisplayName.check(name)
    } catch {
      throw .name(error)
    }
  }

  /// Whether this certificate has the given name and key, and `verify` confirms its signature.
  func hasSigned(
    for name: [UInt8], _ identifier: [UInt8], verify: (_ key: OpaquePointer) throws -> Bool
  ) throws -> Bool {
    guard isAuthority, keyIdentifier == identifier, subject == name else { return false }
    return try PublicKey.with(publicKey, verify)
  }
}
