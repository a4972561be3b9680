internal import COpenSSL
internal import Glibc
internal import System

extension Certificate {
  /// A new notebook's root, self-signed with the founder's key, or a root that continues the notebook
  /// of another root.
  static func root(
    notebookName: String, key: DeviceKey, continuing old: Certificate? = nil, now: Int64
  ) throws -> Certificate {
    try checkName(notebookName)
    let serial = try newSerial()
    let identifier = try NotebookID.make(publicKey: key.publicKey, serial: serial)
    return try make(
      subject: [(NID_commonName, identifier), (NID_organizationName, notebookName)], issuer: nil,
      serial: serial, publicKey: key.publicKey, isAuthority: true,
      continued: old.map { try NotebookID.digest(publicKey: $0.publicKey, serial: $0.serial) },
      signedWith: key, issuedAt: now)
  }

  /// A member's certificate, signed by `issuer` with `key`; it replaces the one with the serial number
  /// `replaced`, if any. By default its own serial number is random. Without `person` it names none, and the
  /// device stands for a person of its own. With `staying` it is a handover. `asker` is the serial
  /// number of the certificate of the device that asked for it.
  static func member(
    name: String, person: Person? = nil, role: Role, publicKey: [UInt8],
    replacing replaced: [UInt8]? = nil, serial: [UInt8]? = nil, staying: [UInt8]? = nil,
    asker: [UInt8]? = nil, issuer: Certificate, signedWith key: DeviceKey, now: Int64
  ) throws -> Certificate {
    try checkName(name)
    // If a founder by a claim signs a certificate for itself, its subject must differ from the issuer's.
    let isOwn = publicKey == issuer.publicKey && issuer.kind == .member(name: name, role: role)
    let subject = isOwn ? Succession.title(name) : name
    return try make(
      subject: [(NID_commonName, subject), (NID_organizationalUnitName, role.rawValue)],
      issuer: issuer, serial: serial ?? newSerial(), publicKey: publicKey,
      isAuthority: role == .admin, signsVersions: true, person: person, replaced: replaced,
      staying: staying, asker: asker, signedWith: key, issuedAt: now)
  }

  /// Signs the name that the admin `issuer` gives the notebook, with `key`.
  static func name(
    _ name: String, ofNotebook identifier: String, issuer: Certificate, signedWith key: DeviceKey,
    now: Int64
  ) throws -> Certificate {
    try checkName(name)
    return try make(
      subject: [(NID_commonName, identifier), (NID_organizationName, name)], issuer: issuer,
      serial: newSerial(), publicKey: key.publicKey, isAuthority: false, signedWith: key,
      issuedAt: now)
  }

  /// Signs a claim, or a stop of one, with `key`, whose certificate is `issuer`.
  static func statement(
    _ claimed: ClaimStatement, name: String, issuer: Certificate, signedWith key: DeviceKey,
    now: Int64
  ) throws -> Certificate {
    try make(
      subject: [(NID_commonName, name), (NID_organizationalUnitName, claimed.word)],
      issuer: issuer, serial: newSerial(), publicKey: key.publicKey, isAuthority: false,
      claimed: claimed.bytes, signedWith: key, issuedAt: now)
  }

  private static func newSerial() throws -> [UInt8] {
    while true {
      let serial = try OpenSSL.random(Serial.size)
      if serial.contains(where: { $0 != 0 }) { return serial }
    }
  }

  private static func make(
    subject: [DistinguishedName.Attribute], issuer: Certificate?, serial: [UInt8],
    publicKey: [UInt8], isAuthority: Bool, signsVersions: Bool = false,
    person: Person? = nil, replaced: [UInt8]? = nil, staying: [UInt8]? = nil,
    asker: [UInt8]? = nil, claimed: [UInt8]? = nil, continued: [UInt8]? = nil,
    signedWith key: DeviceKey, issuedAt: Int64
  ) throws -> Certificate {
    let usage = Extension.usage(ofAuthority: isAuthority)
    let values: KeyValuePairs<Extension, [UInt8]?> = [
      .basicConstraints: usage[.basicConstraints], .keyUsage: usage[.keyUsage],
      .subjectKeyIdentifier: try Extension.keyIdentifierPrefix + PublicKey.identifier(publicKey),
      .authorityKeyIdentifier: try Extension.authorityPrefix + PublicKey.identifier(key.publicKey),
      .replaces: replaced.map { Extension.serialPrefix + $0 },
      .signsVersions: signsVersions ? Extension.null : nil,
      .person: person?.der,
      .handover: staying.map { Extension.serialPrefix + $0 },
      .asker: asker.map { Extension.serialPrefix + $0 },
      .claim: claimed.map { Extension.claimPrefix + $0 },
      .continues: continued.map { Extension.keyIdentifierPrefix + $0 },
    ]
    let extensions = values.compactMap { kind, value in
      value.map { (identifier: kind.rawValue, isCritical: kind.isCritical, value: $0) }
    }
    return try PublicKey.with(publicKey) { publicKey in
      try key.withKey { key in
        try Certificate(
          der: signed(
            subject: subject, issuer: issuer?.der, serial: serial, from: issuedAt, until: nil,
            publicKey: publicKey, extensions: extensions, by: key, digest: nil))
      }
    }
  }

  /// An extension of any kind: its object identifier, and its value in DER.
  typealias AnyExtension = (identifier: String, isCritical: Bool, value: [UInt8])

  /// A certificate of version 3 in DER: RFC 5280, section 4.1.
  ///
  /// - Parameters:
  ///   - issuer: the issuer's certificate; nil for a self-signed certificate.
  ///   - end: in seconds since 1970; nil for no end.
  ///   - digest: nil if the kind of key implies one.
  static func signed(
    subject: [DistinguishedName.Attribute], issuer: [UInt8]?, serial: [UInt8], from start: Int64,
    until end: Int64?, publicKey: OpaquePointer, extensions: [AnyExtension],
    by key: OpaquePointer, digest: OpaquePointer?
  ) throws -> [UInt8] {
    let lib = try OpenSSL.library()
    let certificate = try OpenSSL.check("X509_new", lib.X509_new())
    defer { lib.X509_free(certificate) }
    try OpenSSL.check("X509_set_version", lib.X509_set_version(certificate, 2))
    try Serial.with(serial, lib) {
      try OpenSSL.check("X509_set_serialNumber", lib.X509_set_serialNumber(certificate, $0))
    }
    try Validity.with(start, until: end, lib) { start, end in
      try OpenSSL.check("X509_set1_notBefore", lib.X509_set1_notBefore(certificate, start))
      try OpenSSL.check("X509_set1_notAfter", lib.X509_set1_notAfter(certificate, end))
    }
    func setIssuer(_ name: OpaquePointer) throws {
      try OpenSSL.check("X509_set_issuer_name", lib.X509_set_issuer_name(certificate, name))
    }
    try DistinguishedName.with(subject, lib) { name in
      try OpenSSL.check("X509_set_subject_name", lib.X509_set_subject_name(certificate, name))
      if issuer == nil { try setIssuer(name) }
    }
    if let issuer { try withSubjectName(of: issuer, setIssuer) }
    try OpenSSL.check("X509_set_pubkey", lib.X509_set_pubkey(certificate, publicKey))
    for item in extensions {
      try Extension.with(item.identifier, isCritical: item.isCritical, item.value, lib) {
        try OpenSSL.check("X509_add_ext", lib.X509_add_ext(certificate, $0, -1))
      }
    }
    try OpenSSL.check("X509_sign", lib.X509_sign(certificate, key, digest))
    return try OpenSSL.encoding("i2d_X509") { lib.i2d_X509(certificate, $0) }
  }

  private static func withSubjectName(
    of der: [UInt8], _ body: (OpaquePointer) throws -> Void
  ) throws {
    try decoding(der) { certificate, lib in
      try body(OpenSSL.check("X509_get_subject_name", lib.X509_get_subject_name(certificate)))
    }
  }

  func withSubjectName(_ body: (OpaquePointer) throws -> Void) throws {
    try Certificate.withSubjectName(of: der, body)
  }
}

/// The times in a certificate or list. The end is not checked.
enum Validity {
  /// The range of dates, in seconds since 1970; a clock's time outside counts as the nearest limit.
  private static let times: ClosedRange<Int64> = 0...253_402_300_798
  /// RFC 5280 section 4.1.2.5: no well-defined expiration.
  private static let endOfTime = "99991231235959Z"

  /// A time in seconds since 1970.
  static func seconds(_ time: UnsafePointer<ASN1_TIME>?, _ lib: libcrypto) throws -> Int64 {
    var parts = tm()
    guard lib.ASN1_TIME_to_tm(time, &parts) == 1 else { throw CertificateDefect.validity }
    return Int64(timegm(&parts))
  }

  static func with(
    _ start: Int64, until end: Int64? = nil, _ lib: libcrypto,
    _ body: (_ start: UnsafeMutablePointer<ASN1_TIME>, _ end: UnsafeMutablePointer<ASN1_TIME>)
      throws -> Void
  ) throws {
    let clamped = min(max(start, times.lowerBound), times.upperBound)
    let start = try OpenSSL.check("ASN1_TIME_set", lib.ASN1_TIME_set(nil, time_t(clamped)))
    defer { lib.ASN1_TIME_free(start) }
    let last = try OpenSSL.check("ASN1_TIME_set", lib.ASN1_TIME_set(nil, time_t(end ?? 0)))
    defer { lib.ASN1_TIME_free(last) }
    if end == nil {
      try OpenSSL.check("ASN1_TIME_set_string_X509", lib.ASN1_TIME_set_string_X509(last, endOfTime))
    }
    try body(start, last)
  }
}

/// Notebook IDs, which bind a notebook to its founder's key. An ID is 52 lower-case base32 characters, so it is
/// also a host name for TLS server name indication.
enum NotebookID {
  private static let label = Array("notes notebook 1\0".utf8)

  /// Base32 of SHA-256 over the label, the founder's SubjectPublicKeyInfo and the root's serial
  /// number in 16 bytes, which is the random value.
  static func make(publicKey: [UInt8], serial: [UInt8]) throws -> String {
    String(base32: try digest(publicKey: publicKey, serial: serial)).lowercased()
  }

  static func digest(publicKey: [UInt8], serial: [UInt8]) throws -> [UInt8] {
    try OpenSSL.sha256(label + PublicKey.subjectPublicKeyInfo(publicKey) + serial)
  }
}
