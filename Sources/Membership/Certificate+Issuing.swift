internal import COpenSSL
internal import Glibc
internal import System

extension Certificate {
  /// RFC 5280 section 4.1.2.5: no well-defined expiration. Nothing here looks at it.
  static let endOfTime = "99991231235959Z"
  /// The times a certificate can state, in seconds since 1970; a clock beyond is taken for these.
  private static let times: ClosedRange<Int64> = 0...253_402_300_798

  /// A new notebook's root, self-signed with the founder's key.
  static func root(notebookName: String, key: DeviceKey, now: Int64) throws -> Certificate {
    try checkName(notebookName)
    let serial = try newSerial()
    let subject: [DistinguishedName.Attribute] = [
      .init(
        identifier: NID_commonName,
        value: try NotebookID.make(publicKey: key.publicKey, serial: serial)),
      .init(identifier: NID_organizationName, value: notebookName),
    ]
    return try make(
      subject: subject, issuer: nil, serial: serial, publicKey: key.publicKey,
      usage: .authority, replaced: nil, signedWith: key, issuedAt: now)
  }

  /// A member's certificate, signed by `issuer`, whose key is `key`; in the place of the one with
  /// the serial number `replaced`, if any.
  static func member(
    name: String, role: Role, publicKey: [UInt8], replacing replaced: [UInt8]? = nil,
    issuer: Certificate, signedWith key: DeviceKey, now: Int64
  ) throws -> Certificate {
    try checkName(name)
    return try make(
      subject: [
        .init(identifier: NID_commonName, value: name),
        .init(identifier: NID_organizationalUnitName, value: role.rawValue),
      ],
      issuer: issuer, serial: newSerial(), publicKey: publicKey,
      usage: role == .admin ? .authority : .endEntity, replaced: replaced, signedWith: key,
      issuedAt: now)
  }

  /// 128 random bits, not all of them zero.
  private static func newSerial() throws -> [UInt8] {
    while true {
      let serial = try OpenSSL.random(Serial.size)
      if serial.contains(where: { $0 != 0 }) { return serial }
    }
  }

  private static func make(
    subject: [DistinguishedName.Attribute], issuer: Certificate?, serial: [UInt8],
    publicKey: [UInt8], usage: Extensions.Usage, replaced: [UInt8]?, signedWith key: DeviceKey,
    issuedAt: Int64
  ) throws -> Certificate {
    let lib = try OpenSSL.library()
    let certificate = try OpenSSL.check("X509_new", lib, lib.X509_new())
    defer { lib.X509_free(certificate) }
    try OpenSSL.check("X509_set_version", lib, lib.X509_set_version(certificate, 2))
    try Serial.with(serial, lib) {
      try OpenSSL.check(
        "X509_set_serialNumber", lib, lib.X509_set_serialNumber(certificate, $0))
    }
    try setTimes(of: certificate, issuedAt: issuedAt, lib)

    let subjectName = try DistinguishedName.make(subject, lib)
    defer { lib.X509_NAME_free(subjectName) }
    try OpenSSL.check(
      "X509_set_subject_name", lib, lib.X509_set_subject_name(certificate, subjectName))
    if let issuer {
      try issuer.withSubjectName(lib) {
        try OpenSSL.check(
          "X509_set_issuer_name", lib, lib.X509_set_issuer_name(certificate, $0))
      }
    } else {
      try OpenSSL.check(
        "X509_set_issuer_name", lib, lib.X509_set_issuer_name(certificate, subjectName))
    }
    try PublicKey.with(publicKey, lib) {
      try OpenSSL.check("X509_set_pubkey", lib, lib.X509_set_pubkey(certificate, $0))
    }
    try Extensions.add(
      to: certificate, usage: usage, keyIdentifier: PublicKey.identifier(publicKey),
      issuerKeyIdentifier: PublicKey.identifier(key.publicKey), replaced: replaced, lib)
    try key.withKey(lib) {
      try OpenSSL.check("X509_sign", lib, lib.X509_sign(certificate, $0, nil))
    }
    return try Certificate(
      der: OpenSSL.encoding("i2d_X509", lib) { lib.i2d_X509(certificate, $0) })
  }

  private static func setTimes(of certificate: OpaquePointer, issuedAt: Int64, _ lib: libcrypto)
    throws
  {
    let time = try OpenSSL.check("ASN1_TIME_new", lib, lib.ASN1_TIME_new())
    defer { lib.ASN1_TIME_free(time) }
    _ = try OpenSSL.check(
      "ASN1_TIME_set", lib, lib.ASN1_TIME_set(time, time_t(clamped(issuedAt))))
    try OpenSSL.check("X509_set1_notBefore", lib, lib.X509_set1_notBefore(certificate, time))
    try OpenSSL.check(
      "ASN1_TIME_set_string_X509", lib, lib.ASN1_TIME_set_string_X509(time, endOfTime))
    try OpenSSL.check("X509_set1_notAfter", lib, lib.X509_set1_notAfter(certificate, time))
  }

  static func clamped(_ time: Int64) -> Int64 {
    min(max(time, times.lowerBound), times.upperBound)
  }

  /// Hands the subject name to OpenSSL for the length of `body`.
  func withSubjectName(_ lib: libcrypto, _ body: (OpaquePointer) throws -> Void) throws {
    let done: Void? = try OpenSSL.decoding(
      der, { lib.d2i_X509(nil, $0, $1) }, free: { lib.X509_free($0) }
    ) { certificate in
      try body(
        OpenSSL.check("X509_get_subject_name", lib, lib.X509_get_subject_name(certificate)))
    }
    if done == nil { throw CertificateDefect.encoding }
  }
}

/// Notebook IDs: what binds a notebook to its founder's key. 52 lower-case base32 characters, so
/// that one is also a host name for TLS server name indication.
enum NotebookID {
  private static let label = Array("notes notebook 1\0".utf8)

  /// Base32 of SHA-256 over the label, the founder's SubjectPublicKeyInfo and the root's serial
  /// number in 16 bytes, which is the random value.
  static func make(publicKey: [UInt8], serial: [UInt8]) throws -> String {
    String(
      base32:
        try OpenSSL.sha256(label + PublicKey.subjectPublicKeyInfo(publicKey) + serial)
    ).lowercased()
  }
}
