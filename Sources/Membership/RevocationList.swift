internal import COpenSSL

/// A decoded certificate revocation list of an admin. Its form was checked, its signature was not.
struct RevocationList: Hashable, Sendable {
  /// Limits of notes-security(7) "Limits".
  static let maximumSize = 512 * 1024
  static let maximumEntries = 8192

  let der: [UInt8]
  let fingerprint: Fingerprint
  let issuer: [UInt8]
  let issuerKeyIdentifier: [UInt8]
  /// The CRL number: one more than the admin's last.
  let number: UInt64
  /// The serial numbers and reasons; any issuer's certificates may be listed.
  let entries: [[UInt8]: Reason]
  /// When each serial number was first listed, in seconds since 1970 by that admin's clock.
  let dates: [[UInt8]: Int64]

  var signer: Certificate.Authority { .init(keyIdentifier: issuerKeyIdentifier, name: issuer) }

  /// The reason why a serial number is listed; greater ones take precedence. The values are
  /// X.509's.
  enum Reason: UInt8, Comparable, Sendable {
    /// Another certificate of the device has replaced it.
    case superseded = 4
    /// A certificate with a lesser role has replaced it (privilegeWithdrawn).
    case demoted = 9
    /// The device is removed (affiliationChanged).
    case removed = 3

    static func < (left: Reason, right: Reason) -> Bool { left.weight < right.weight }

    private var weight: Int { self == .superseded ? 0 : self == .demoted ? 1 : 2 }
    var der: [UInt8] { [0x0A, 0x01, rawValue] }
  }

  init(der: [UInt8]) throws {
    self = try RevocationList.decoding(der) { try RevocationList(list: $0, der: der, $1) }
  }

  private static func decoding<Value>(
    _ der: [UInt8], _ body: (OpaquePointer, libcrypto) throws -> Value
  ) throws -> Value {
    try OpenSSL.decoding(
      der, atMost: maximumSize, { $0.d2i_X509_CRL(nil, $1, $2) }, free: { $0.X509_CRL_free($1) },
      body)
  }

  private init(list: OpaquePointer, der: [UInt8], _ lib: libcrypto) throws {
    let encoded = try OpenSSL.encoding("i2d_X509_CRL") { lib.i2d_X509_CRL(list, $0) }
    if encoded != der { throw CertificateDefect.encoding }
    if lib.X509_CRL_get_version(list) != 1 { throw CertificateDefect.version }
    if lib.X509_CRL_get_signature_nid(list) != NID_ED25519 { throw CertificateDefect.algorithm }
    self.der = der
    fingerprint = try Fingerprint(of: der)
    let issuerName = lib.X509_CRL_get_issuer(list)
    issuer = try OpenSSL.encoding("i2d_X509_NAME") { lib.i2d_X509_NAME(issuerName, $0) }

    let revoked = lib.X509_CRL_get_REVOKED(list)
    let count = revoked == nil ? 0 : lib.OPENSSL_sk_num(revoked)
    if count > RevocationList.maximumEntries { throw CertificateDefect.tooLarge(Int(count)) }
    var entries: [[UInt8]: Reason] = [:]
    var dates: [[UInt8]: Int64] = [:]
    for index in 0..<max(count, 0) {
      let entry = lib.OPENSSL_sk_value(revoked, index).map { OpaquePointer($0) }
      let serial = try Serial.read(lib.X509_REVOKED_get0_serialNumber(entry), lib)
      entries[serial] = max(entries[serial] ?? .superseded, RevocationList.reason(entry, lib))
      let date = try Validity.seconds(lib.X509_REVOKED_get0_revocationDate(entry), lib)
      dates[serial] = min(dates[serial] ?? date, date)
    }
    (self.entries, self.dates) = (entries, dates)

    let extensions = try Extension.read(lib.X509_CRL_get_ext_count(list), lib) {
      lib.X509_CRL_get_ext(list, $0)
    }
    guard lib.X509_CRL_get_ext_count(list) == 2,
      let authority = Extension.stripped(
        Extension.authorityPrefix, extensions[.authorityKeyIdentifier]),
      let number = RevocationList.number(extensions[.listNumber])
    else { throw CertificateDefect.extensions }
    issuerKeyIdentifier = authority
    self.number = number
  }

  static func == (left: Self, right: Self) -> Bool { left.fingerprint == right.fingerprint }
  func hash(into hasher: inout Hasher) { fingerprint.hash(into: &hasher) }

  /// A list with the present date; entries from an older list keep their dates.
  static func make(
    entries: [[UInt8]: Reason], dates: [[UInt8]: Int64] = [:], number: UInt64, issuer: Certificate,
    signedWith key: DeviceKey, now: Int64
  ) throws -> RevocationList {
    let lib = try OpenSSL.library()
    let list = try OpenSSL.check("X509_CRL_new", lib.X509_CRL_new())
    defer { lib.X509_CRL_free(list) }
    try OpenSSL.check("X509_CRL_set_version", lib.X509_CRL_set_version(list, 1))
    try issuer.withSubjectName {
      try OpenSSL.check("X509_CRL_set_issuer_name", lib.X509_CRL_set_issuer_name(list, $0))
    }
    try Validity.with(now, lib) { start, end in
      try OpenSSL.check("X509_CRL_set1_lastUpdate", lib.X509_CRL_set1_lastUpdate(list, start))
      try OpenSSL.check("X509_CRL_set1_nextUpdate", lib.X509_CRL_set1_nextUpdate(list, end))
    }
    for (serial, reason) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try Validity.with(dates[serial] ?? now, lib) { date, _ in
        try add(serial, reason, at: date, to: list, lib)
      }
    }
    let extensions: KeyValuePairs<Extension, [UInt8]> = [
      .authorityKeyIdentifier: try Extension.authorityPrefix + PublicKey.identifier(key.publicKey),
      .listNumber: encodedNumber(number),
    ]
    for (kind, value) in extensions {
      try kind.with(value, lib) {
        try OpenSSL.check("X509_CRL_add_ext", lib.X509_CRL_add_ext(list, $0, -1))
      }
    }
    try key.withKey { try OpenSSL.check("X509_CRL_sign", lib.X509_CRL_sign(list, $0, nil)) }
    return try RevocationList(der: OpenSSL.encoding("i2d_X509_CRL") { lib.i2d_X509_CRL(list, $0) })
  }

  func isSigned(by issuer: Certificate) throws -> Bool {
    try issuer.hasSigned(for: self.issuer, issuerKeyIdentifier) { key in
      try RevocationList.decoding(der) { $1.X509_CRL_verify($0, key) == 1 }
    }
  }

  /// Whether this list replaces `other`, by the same admin: it has all entries of `other`. If both have the
  /// same entries, this one must have the higher number, or with equal numbers the greater bytes.
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
    to list: OpaquePointer, _ lib: libcrypto
  ) throws {
    let entry = try OpenSSL.check("X509_REVOKED_new", lib.X509_REVOKED_new())
    do {
      try Serial.with(serial, lib) {
        try OpenSSL.check(
          "X509_REVOKED_set_serialNumber", lib.X509_REVOKED_set_serialNumber(entry, $0))
      }
      try OpenSSL.check(
        "X509_REVOKED_set_revocationDate", lib.X509_REVOKED_set_revocationDate(entry, time))
      try Extension.reason.with(reason.der, lib) {
        try OpenSSL.check("X509_REVOKED_add_ext", lib.X509_REVOKED_add_ext(entry, $0, -1))
      }
      try OpenSSL.check("X509_CRL_add0_revoked", lib.X509_CRL_add0_revoked(list, entry))
    } catch {
      lib.X509_REVOKED_free(entry)
      throw error
    }
  }

  /// Every reason except superseded and demoted means removed.
  private static func reason(_ entry: OpaquePointer?, _ lib: libcrypto) -> Reason {
    let index = lib.X509_REVOKED_get_ext_by_NID(entry, NID_crl_reason, -1)
    guard index >= 0, let found = lib.X509_REVOKED_get_ext(entry, index) else { return .removed }
    let value = OpenSSL.content(lib.X509_EXTENSION_get_data(found), lib)
    return [.superseded, .demoted].first { $0.der == value } ?? .removed
  }

  /// A DER INTEGER of at most 63 bits.
  private static func encodedNumber(_ number: UInt64) -> [UInt8] {
    // The number has no leading zeros, except one that keeps it positive.
    var bytes = withUnsafeBytes(of: number.bigEndian) { Array($0.drop { $0 == 0 }) }
    if (bytes.first ?? 0x80) & 0x80 != 0 { bytes.insert(0, at: 0) }
    return [0x02, UInt8(bytes.count)] + bytes
  }

  private static func number(_ value: [UInt8]?) -> UInt64? {
    guard let value, (3...10).contains(value.count), value[2] & 0x80 == 0 else { return nil }
    let number = value.dropFirst(2).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return encodedNumber(number) == value ? number : nil
  }
}
