internal import COpenSSL

/// The extensions of a certificate or revocation list, by the profile of notes-security(7). Their
/// values are short and fixed, so they are written and compared as DER.
struct Extensions {
  enum Usage: Equatable { case authority, endEntity }

  private(set) var usage: Usage?
  private(set) var keyIdentifier: [UInt8]?
  private(set) var authorityKeyIdentifier: [UInt8]?
  /// The serial number of the certificate in whose place this one stands.
  private(set) var replaced: [UInt8]?

  /// Reads a certificate's. Unknown extensions pass unless critical.
  init(of certificate: OpaquePointer, _ lib: libcrypto) throws {
    var constraints: Usage?
    var keyUsage: Usage?
    for index in 0..<max(lib.X509_get_ext_count(certificate), 0) {
      let entry = lib.X509_get_ext(certificate, index)
      let isCritical = lib.X509_EXTENSION_get_critical(entry) != 0
      let value = OpenSSL.content(lib.X509_EXTENSION_get_data(entry), lib)
      switch lib.OBJ_obj2nid(lib.X509_EXTENSION_get_object(entry)) {
      case NID_basic_constraints where isCritical && constraints == nil:
        constraints = Extensions.usages.first { $0.constraints == value }?.usage
      case NID_key_usage where isCritical && keyUsage == nil:
        keyUsage = Extensions.usages.first { $0.keyUsage == value }?.usage
      case NID_subject_key_identifier where !isCritical && keyIdentifier == nil:
        keyIdentifier = Extensions.stripped(Extensions.keyIdentifierPrefix, value)
      case NID_authority_key_identifier where !isCritical && authorityKeyIdentifier == nil:
        authorityKeyIdentifier = Extensions.stripped(Extensions.authorityPrefix, value)
      case NID_basic_constraints, NID_key_usage, NID_subject_key_identifier,
        NID_authority_key_identifier:
        throw CertificateDefect.extensions
      case NID_undef where Extensions.isReplacement(entry, lib):
        guard !isCritical, replaced == nil,
          let serial = Extensions.stripped(Extensions.serialPrefix, value, size: Serial.size)
        else { throw CertificateDefect.extensions }
        replaced = serial
      default:
        if isCritical { throw CertificateDefect.extensions }
      }
    }
    if constraints == keyUsage { usage = constraints }
  }

  /// Adds what a certificate of this kind carries.
  static func add(
    to certificate: OpaquePointer, usage: Usage, keyIdentifier: [UInt8],
    issuerKeyIdentifier: [UInt8], replaced: [UInt8]?, _ lib: libcrypto
  ) throws {
    guard let form = usages.first(where: { $0.usage == usage }) else { return }
    let values: [(Int32, Bool, [UInt8])] = [
      (NID_basic_constraints, true, form.constraints),
      (NID_key_usage, true, form.keyUsage),
      (NID_subject_key_identifier, false, keyIdentifierPrefix + keyIdentifier),
      (NID_authority_key_identifier, false, authorityPrefix + issuerKeyIdentifier),
    ]
    for (identifier, isCritical, value) in values {
      try with(identifier, isCritical: isCritical, value, lib) {
        try OpenSSL.check("X509_add_ext", lib, lib.X509_add_ext(certificate, $0, -1))
      }
    }
    if let replaced {
      let object = try OpenSSL.check(
        "OBJ_txt2obj", lib, lib.OBJ_txt2obj(replacementIdentifier, 1))
      defer { lib.ASN1_OBJECT_free(object) }
      try with(object, isCritical: false, serialPrefix + replaced, lib) {
        try OpenSSL.check("X509_add_ext", lib, lib.X509_add_ext(certificate, $0, -1))
      }
    }
  }

  /// Makes one extension for the length of `body`.
  static func with(
    _ identifier: Int32, isCritical: Bool, _ value: [UInt8], _ lib: libcrypto,
    _ body: (OpaquePointer) throws -> Void
  ) throws {
    // One of OpenSSL's own objects, which is not to be freed.
    let object = try OpenSSL.check("OBJ_nid2obj", lib, lib.OBJ_nid2obj(identifier))
    try with(object, isCritical: isCritical, value, lib, body)
  }

  private static func with(
    _ object: OpaquePointer, isCritical: Bool, _ value: [UInt8], _ lib: libcrypto,
    _ body: (OpaquePointer) throws -> Void
  ) throws {
    let content = try OpenSSL.check("ASN1_OCTET_STRING_new", lib, lib.ASN1_OCTET_STRING_new())
    defer { lib.ASN1_OCTET_STRING_free(content) }
    try OpenSSL.check(
      "ASN1_STRING_set", lib, lib.ASN1_STRING_set(content, value, Int32(value.count)))
    let entry = try OpenSSL.check(
      "X509_EXTENSION_create_by_OBJ", lib,
      lib.X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, content))
    defer { lib.X509_EXTENSION_free(entry) }
    try body(entry)
  }

  private static func isReplacement(_ entry: OpaquePointer?, _ lib: libcrypto) -> Bool {
    var text = [CChar](repeating: 0, count: 80)
    let length = lib.OBJ_obj2txt(
      &text, Int32(text.count), lib.X509_EXTENSION_get_object(entry), 1)
    guard length > 0, length < Int32(text.count) else { return false }
    return text[..<Int(length)].elementsEqual(replacementIdentifier.utf8.map { CChar($0) })
  }

  /// Our own extension "replaces", under an identifier made of a UUID (ITU-T X.667): an octet
  /// string of the replaced certificate's serial number.
  private static let replacementIdentifier = "2.25.42687860910070173557393088580088700091"
  private static let serialPrefix: [UInt8] = [0x04, 0x10]

  /// BasicConstraints CA:TRUE with digitalSignature, keyCertSign and cRLSign; or CA:FALSE with
  /// digitalSignature.
  private static let usages: [(usage: Usage, constraints: [UInt8], keyUsage: [UInt8])] = [
    (.authority, [0x30, 0x03, 0x01, 0x01, 0xFF], [0x03, 0x02, 0x01, 0x86]),
    (.endEntity, [0x30, 0x00], [0x03, 0x02, 0x07, 0x80]),
  ]

  /// SubjectKeyIdentifier: an octet string of 32.
  private static let keyIdentifierPrefix: [UInt8] = [0x04, 0x20]
  /// AuthorityKeyIdentifier: a sequence of keyIdentifier alone, 32 octets.
  static let authorityPrefix: [UInt8] = [0x30, 0x22, 0x80, 0x20]

  /// The octets after `prefix`, as many as `size`; nil when the value has another form.
  static func stripped(_ prefix: [UInt8], _ value: [UInt8], size: Int = 32) -> [UInt8]? {
    guard value.count == prefix.count + size, value.starts(with: prefix) else { return nil }
    return Array(value.dropFirst(prefix.count))
  }
}

/// Serial numbers: positive, at most 128 bits, kept as 16 bytes.
enum Serial {
  static let size = 16

  static func read(_ integer: UnsafePointer<ASN1_INTEGER>?, _ lib: libcrypto) throws -> [UInt8] {
    let bytes = OpenSSL.content(integer, lib)
    guard let integer, lib.ASN1_STRING_type(integer) == V_ASN1_INTEGER, bytes.count <= size,
      bytes.contains(where: { $0 != 0 })
    else { throw CertificateDefect.serial }
    return [UInt8](repeating: 0, count: size - bytes.count) + bytes
  }

  /// Hands an ASN.1 integer to `body`.
  static func with(
    _ serial: [UInt8], _ lib: libcrypto,
    _ body: (UnsafeMutablePointer<ASN1_INTEGER>) throws -> Void
  ) throws {
    let number = try OpenSSL.check(
      "BN_bin2bn", lib, lib.BN_bin2bn(serial, Int32(serial.count), nil))
    defer { lib.BN_free(number) }
    let integer = try OpenSSL.check(
      "BN_to_ASN1_INTEGER", lib, lib.BN_to_ASN1_INTEGER(number, nil))
    defer { lib.ASN1_INTEGER_free(integer) }
    try body(integer)
  }
}
