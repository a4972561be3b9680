internal import COpenSSL
internal import Glibc

/// An admin's certificate revocation list, taken apart. Its form has been checked; its signature
/// has not.
struct RevocationList: Hashable, Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumSize = 512 * 1024
  static let maximumEntries = 8192

  let der: [UInt8]
  let issuer: [UInt8]
  let issuerKeyIdentifier: [UInt8]
  /// The CRL number: one more than the admin's last.
  let number: UInt64
  /// The serial numbers, whoever issued the certificates, and why.
  let entries: [[UInt8]: Reason]

  /// Why a serial number is listed; the greater counts more. The values are X.509's.
  enum Reason: UInt8, Comparable, Sendable {
    /// Another certificate of the device has taken its place.
    case superseded = 4
    /// The device is removed (affiliationChanged).
    case removed = 3

    static func < (left: Reason, right: Reason) -> Bool { left == .superseded && right == .removed }
  }

  /// Reads DER. Throws the first `CertificateDefect`.
  init(der: [UInt8]) throws {
    let lib = try OpenSSL.library()
    self = try OpenSSL.reading(
      der, atMost: RevocationList.maximumSize, { lib.d2i_X509_CRL(nil, $0, $1) },
      free: { lib.X509_CRL_free($0) }, { try RevocationList(list: $0, der: der, lib) })
  }

  private init(list: OpaquePointer, der: [UInt8], _ lib: libcrypto) throws {
    let encoded = try OpenSSL.encoding("i2d_X509_CRL", lib) { lib.i2d_X509_CRL(list, $0) }
    if encoded != der { throw CertificateDefect.encoding }
    if lib.X509_CRL_get_version(list) != 1 { throw CertificateDefect.version }
    if lib.X509_CRL_get_signature_nid(list) != NID_ED25519 { throw CertificateDefect.algorithm }
    self.der = der
    let issuerName = lib.X509_CRL_get_issuer(list)
    issuer = try OpenSSL.encoding("i2d_X509_NAME", lib) { lib.i2d_X509_NAME(issuerName, $0) }

    let entries = lib.X509_CRL_get_REVOKED(list)
    let count = entries == nil ? 0 : lib.OPENSSL_sk_num(entries)
    if count > RevocationList.maximumEntries { throw CertificateDefect.tooLarge(Int(count)) }
    var reasons: [[UInt8]: Reason] = [:]
    for index in 0..<max(count, 0) {
      let entry = lib.OPENSSL_sk_value(entries, index).map { OpaquePointer($0) }
      let serial = try Serial.read(lib.X509_REVOKED_get0_serialNumber(entry), lib)
      reasons[serial] = max(reasons[serial] ?? .superseded, RevocationList.reason(entry, lib))
    }
    self.entries = reasons

    guard lib.X509_CRL_get_ext_count(list) == 2,
      let authority = Extensions.stripped(
        Extensions.authorityPrefix,
        RevocationList.value(NID_authority_key_identifier, of: list, lib)),
      let number = RevocationList.number(RevocationList.value(NID_crl_number, of: list, lib))
    else { throw CertificateDefect.extensions }
    issuerKeyIdentifier = authority
    self.number = number
  }

  /// A list of `entries`, signed by `issuer`, whose key is `key`.
  static func make(
    entries: [[UInt8]: Reason], number: UInt64, issuer: Certificate, signedWith key: DeviceKey,
    now: Int64
  ) throws -> RevocationList {
    let lib = try OpenSSL.library()
    let list = try OpenSSL.check("X509_CRL_new", lib, lib.X509_CRL_new())
    defer { lib.X509_CRL_free(list) }
    try OpenSSL.check("X509_CRL_set_version", lib, lib.X509_CRL_set_version(list, 1))
    try issuer.withSubjectName(lib) {
      try OpenSSL.check("X509_CRL_set_issuer_name", lib, lib.X509_CRL_set_issuer_name(list, $0))
    }
    let time = try OpenSSL.check("ASN1_TIME_new", lib, lib.ASN1_TIME_new())
    defer { lib.ASN1_TIME_free(time) }
    _ = try OpenSSL.check(
      "ASN1_TIME_set", lib, lib.ASN1_TIME_set(time, time_t(Certificate.clamped(now))))
    try OpenSSL.check("X509_CRL_set1_lastUpdate", lib, lib.X509_CRL_set1_lastUpdate(list, time))
    for (serial, reason) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try add(serial, reason, at: time, to: list, lib)
    }
    try OpenSSL.check(
      "ASN1_TIME_set_string_X509", lib,
      lib.ASN1_TIME_set_string_X509(time, Certificate.endOfTime))
    try OpenSSL.check("X509_CRL_set1_nextUpdate", lib, lib.X509_CRL_set1_nextUpdate(list, time))
    let identifier = try PublicKey.identifier(key.publicKey)
    let values = [
      (NID_authority_key_identifier, Extensions.authorityPrefix + identifier),
      (NID_crl_number, encodedNumber(number)),
    ]
    for (kind, value) in values {
      try Extensions.with(kind, isCritical: false, value, lib) {
        try OpenSSL.check("X509_CRL_add_ext", lib, lib.X509_CRL_add_ext(list, $0, -1))
      }
    }
    try key.withKey(lib) {
      try OpenSSL.check("X509_CRL_sign", lib, lib.X509_CRL_sign(list, $0, nil))
    }
    return try RevocationList(
      der: OpenSSL.encoding("i2d_X509_CRL", lib) { lib.i2d_X509_CRL(list, $0) })
  }

  /// Whether the signature is `issuer`'s, and `issuer` one that may give it.
  func isSigned(by issuer: Certificate) throws -> Bool {
    try issuer.hasSigned(for: self.issuer, issuerKeyIdentifier) { key, lib in
      OpenSSL.decoding(der, { lib.d2i_X509_CRL(nil, $0, $1) }, free: { lib.X509_CRL_free($0) }) {
        lib.X509_CRL_verify($0, key) == 1
      } ?? false
    }
  }

  /// Whether `other`, by the same admin, says nothing that this does not; of two lists that say
  /// the same, the one with the higher number, then the greater bytes, stays.
  func replaces(_ other: RevocationList) -> Bool {
    if issuerKeyIdentifier != other.issuerKeyIdentifier || self == other { return false }
    for (serial, reason) in other.entries {
      guard let own = entries[serial], own >= reason else { return false }
    }
    if entries != other.entries { return true }
    if number != other.number { return number > other.number }
    return other.der.lexicographicallyPrecedes(der)
  }

  private static func add(
    _ serial: [UInt8], _ reason: Reason, at time: UnsafeMutablePointer<ASN1_TIME>,
    to list: OpaquePointer,
    _ lib: libcrypto
  ) throws {
    let entry = try OpenSSL.check("X509_REVOKED_new", lib, lib.X509_REVOKED_new())
    do {
      try Serial.with(serial, lib) {
        try OpenSSL.check(
          "X509_REVOKED_set_serialNumber", lib, lib.X509_REVOKED_set_serialNumber(entry, $0))
      }
      try OpenSSL.check(
        "X509_REVOKED_set_revocationDate", lib, lib.X509_REVOKED_set_revocationDate(entry, time))
      try Extensions.with(NID_crl_reason, isCritical: false, [0x0A, 0x01, reason.rawValue], lib) {
        try OpenSSL.check("X509_REVOKED_add_ext", lib, lib.X509_REVOKED_add_ext(entry, $0, -1))
      }
      try OpenSSL.check("X509_CRL_add0_revoked", lib, lib.X509_CRL_add0_revoked(list, entry))
    } catch {
      lib.X509_REVOKED_free(entry)
      throw error
    }
  }

  /// Whatever is not said to be superseded is removed.
  private static func reason(_ entry: OpaquePointer?, _ lib: libcrypto) -> Reason {
    let index = lib.X509_REVOKED_get_ext_by_NID(entry, NID_crl_reason, -1)
    guard index >= 0, let found = lib.X509_REVOKED_get_ext(entry, index) else { return .removed }
    let value = OpenSSL.content(lib.X509_EXTENSION_get_data(found), lib)
    return value == [0x0A, 0x01, Reason.superseded.rawValue] ? .superseded : .removed
  }

  private static func value(_ identifier: Int32, of list: OpaquePointer, _ lib: libcrypto)
    -> [UInt8]
  {
    let index = lib.X509_CRL_get_ext_by_NID(list, identifier, -1)
    guard index >= 0, let entry = lib.X509_CRL_get_ext(list, index),
      lib.X509_EXTENSION_get_critical(entry) == 0
    else { return [] }
    return OpenSSL.content(lib.X509_EXTENSION_get_data(entry), lib)
  }

  /// A DER INTEGER of at most 63 bits.
  private static func encodedNumber(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = number
    repeat {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    } while rest > 0
    if bytes[0] & 0x80 != 0 { bytes.insert(0, at: 0) }
    return [0x02, UInt8(bytes.count)] + bytes
  }

  private static func number(_ value: [UInt8]) -> UInt64? {
    guard (3...10).contains(value.count), value[2] & 0x80 == 0 else { return nil }
    let number = value.dropFirst(2).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return encodedNumber(number) == value ? number : nil
  }
}
