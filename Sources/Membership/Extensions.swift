internal import COpenSSL

/// The extensions of the profile in notes-security(7), by object identifier. Their values are short
/// and fixed, so they are written and compared as DER.
enum Extension: String {
  case subjectKeyIdentifier = "2.5.29.14"
  case keyUsage = "2.5.29.15"
  case basicConstraints = "2.5.29.19"
  case listNumber = "2.5.29.20"
  case reason = "2.5.29.21"
  case authorityKeyIdentifier = "2.5.29.35"
  /// A private extension, an octet string: the serial number of the certificate that this one replaced. The
  /// identifier is made from a UUID (ITU-T X.667).
  case replaces = "2.25.42687860910070173557393088580088700091"
  /// For a member's certificate, NULL: its device signs every version that it makes.
  case signsVersions = "2.25.171628606181371554536320987256274146084"
  /// For a member's certificate: the person of the device, a sequence of an octet string and a name.
  case person = "2.25.108626085012524507698340803925271077568"
  /// For the certificate that makes an admin's device the founder. The former founder signs it and stays an admin;
  /// the value is an octet string with the serial number of its own new certificate.
  case handover = "2.25.190362745118402271960574183920471650322"
  /// For a member's certificate that another device of the person asked for: an octet string with the serial number
  /// of that device's certificate.
  case asker = "2.25.271828390174620583914477201938560117265"
  /// For a claim or a stop: an octet string of 64 bytes, see `ClaimStatement`.
  case claim = "2.25.310094182236451907748120365982110475533"
  /// For a root: an octet string of the digest in the ID of the notebook whose membership it starts
  /// over.
  case continues = "2.25.73319986009365374432425497566117865641"

  var isCritical: Bool { self == .keyUsage || self == .basicConstraints }

  static let keyIdentifierPrefix: [UInt8] = [0x04, 0x20]
  /// A sequence of only keyIdentifier, 32 octets.
  static let authorityPrefix: [UInt8] = [0x30, 0x22, 0x80, 0x20]
  static let serialPrefix: [UInt8] = [0x04, 0x10]
  static let claimPrefix: [UInt8] = [0x04, 0x40]
  static let null: [UInt8] = [0x05, 0x00]

  /// BasicConstraints CA:TRUE with digitalSignature, keyCertSign and cRLSign; or CA:FALSE with
  /// digitalSignature.
  static func usage(ofAuthority isAuthority: Bool) -> [Extension: [UInt8]] {
    isAuthority
      ? [
        .basicConstraints: [0x30, 0x03, 0x01, 0x01, 0xFF], .keyUsage: [0x03, 0x02, 0x01, 0x86],
      ] : [.basicConstraints: [0x30, 0x00], .keyUsage: [0x03, 0x02, 0x07, 0x80]]
  }

  /// The values of `count` extensions. Unknown ones are ignored unless critical.
  static func read(_ count: Int32, _ lib: libcrypto, _ entry: (Int32) -> OpaquePointer?) throws
    -> [Extension: [UInt8]]
  {
    var values: [Extension: [UInt8]] = [:]
    for index in 0..<max(count, 0) {
      let entry = entry(index)
      let isCritical = lib.X509_EXTENSION_get_critical(entry) != 0
      if let kind = identifier(of: entry, lib).flatMap(Extension.init) {
        let value = OpenSSL.content(lib.X509_EXTENSION_get_data(entry), lib)
        if isCritical != kind.isCritical || values.updateValue(value, forKey: kind) != nil {
          throw CertificateDefect.extensions
        }
      } else if isCritical {
        throw CertificateDefect.extensions
      }
    }
    return values
  }

  private static func identifier(of entry: OpaquePointer?, _ lib: libcrypto) -> String? {
    var text = [CChar](repeating: 0, count: 80)
    let length = lib.OBJ_obj2txt(&text, Int32(text.count), lib.X509_EXTENSION_get_object(entry), 1)
    guard length > 0, length < text.count else { return nil }
    return String(decoding: text[..<Int(length)].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func with(_ value: [UInt8], _ lib: libcrypto, _ body: (OpaquePointer) throws -> Void) throws {
    try Self.with(rawValue, isCritical: isCritical, value, lib, body)
  }

  /// An extension of any kind, by its object identifier.
  static func with(
    _ identifier: String, isCritical: Bool, _ value: [UInt8], _ lib: libcrypto,
    _ body: (OpaquePointer) throws -> Void
  ) throws {
    let object = try OpenSSL.check("OBJ_txt2obj", lib.OBJ_txt2obj(identifier, 1))
    defer { lib.ASN1_OBJECT_free(object) }
    let content = try OpenSSL.check("ASN1_OCTET_STRING_new", lib.ASN1_OCTET_STRING_new())
    defer { lib.ASN1_OCTET_STRING_free(content) }
    try OpenSSL.check("ASN1_STRING_set", lib.ASN1_STRING_set(content, value, Int32(value.count)))
    let entry = try OpenSSL.check(
      "X509_EXTENSION_create_by_OBJ",
      lib.X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, content))
    defer { lib.X509_EXTENSION_free(entry) }
    try body(entry)
  }

  /// The octets after `prefix`, exactly `size`; nil if the value has another form.
  static func stripped(_ prefix: [UInt8], _ value: [UInt8]?, size: Int = 32) -> [UInt8]? {
    guard let value, value.count == prefix.count + size, value.starts(with: prefix) else {
      return nil
    }
    return Array(value.dropFirst(prefix.count))
  }
}

/// Serial numbers: positive, at most 128 bits, stored as 16 bytes.
enum Serial {
  static let size = 16

  static func read(_ integer: UnsafePointer<ASN1_INTEGER>?, _ lib: libcrypto) throws -> [UInt8] {
    let bytes = OpenSSL.content(integer, lib)
    guard let integer, lib.ASN1_STRING_type(integer) == V_ASN1_INTEGER, bytes.count <= size,
      bytes.contains(where: { $0 != 0 })
    else { throw CertificateDefect.serial }
    return [UInt8](repeating: 0, count: size - bytes.count) + bytes
  }

  static func with(
    _ serial: [UInt8], _ lib: libcrypto, _ body: (UnsafeMutablePointer<ASN1_INTEGER>) throws -> Void
  ) throws {
    let number = try OpenSSL.check("BN_bin2bn", lib.BN_bin2bn(serial, Int32(serial.count), nil))
    defer { lib.BN_free(number) }
    let integer = try OpenSSL.check("BN_to_ASN1_INTEGER", lib.BN_to_ASN1_INTEGER(number, nil))
    defer { lib.ASN1_INTEGER_free(integer) }
    try body(integer)
  }
}

/// X.501 names with UTF8String attributes, one for each relative name.
enum DistinguishedName {
  /// OpenSSL's numeric identifier of the type, and the value.
  typealias Attribute = (type: Int32, value: String)

  static func with(
    _ attributes: [Attribute], _ lib: libcrypto, _ body: (OpaquePointer) throws -> Void
  ) throws {
    let name = try OpenSSL.check("X509_NAME_new", lib.X509_NAME_new())
    defer { lib.X509_NAME_free(name) }
    for (type, value) in attributes {
      let value = Array(value.utf8)
      try OpenSSL.check(
        "X509_NAME_add_entry_by_NID",
        lib.X509_NAME_add_entry_by_NID(
          name, type, V_ASN1_UTF8STRING, value, Int32(value.count), -1, 0))
    }
    try body(name)
  }

  /// The attributes in order. Throws if there are more than eight, if one is not a UTF8String with valid UTF-8, or if
  /// two are in one relative distinguished name.
  static func attributes(_ name: OpaquePointer?, _ lib: libcrypto) throws -> [Attribute] {
    let count = lib.X509_NAME_entry_count(name)
    if count > 8 { throw CertificateDefect.subject }
    return try (0..<max(count, 0)).map { index in
      let entry = lib.X509_NAME_get_entry(name, index)
      guard lib.X509_NAME_ENTRY_set(entry) == index, let data = lib.X509_NAME_ENTRY_get_data(entry),
        lib.ASN1_STRING_type(data) == V_ASN1_UTF8STRING,
        let value = String(validating: OpenSSL.content(data, lib), as: UTF8.self)
      else { throw CertificateDefect.subject }
      return (lib.OBJ_obj2nid(lib.X509_NAME_ENTRY_get_object(entry)), value)
    }
  }
}
