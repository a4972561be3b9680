internal import COpenSSL

/// X.501 names with UTF8String attributes, one to each relative name.
enum DistinguishedName {
  struct Attribute: Equatable {
    /// OpenSSL's numeric identifier of the attribute's type.
    let identifier: Int32
    let value: String
  }

  /// A new name; the caller frees it.
  static func make(_ attributes: [Attribute], _ lib: libcrypto) throws -> OpaquePointer {
    let name = try OpenSSL.check("X509_NAME_new", lib, lib.X509_NAME_new())
    for attribute in attributes {
      let value = Array(attribute.value.utf8)
      let added = lib.X509_NAME_add_entry_by_NID(
        name, attribute.identifier, V_ASN1_UTF8STRING, value, Int32(value.count), -1, 0)
      if added != 1 {
        lib.X509_NAME_free(name)
        throw OpenSSL.failure("X509_NAME_add_entry_by_NID", lib)
      }
    }
    return name
  }

  /// The attributes in order. Throws when one is not a UTF8String holding UTF-8, or when a
  /// relative name has several.
  static func attributes(_ name: OpaquePointer?, _ lib: libcrypto) throws -> [Attribute] {
    let count = lib.X509_NAME_entry_count(name)
    if count > 8 { throw CertificateDefect.subject }
    var attributes: [Attribute] = []
    for index in 0..<max(count, 0) {
      let entry = lib.X509_NAME_get_entry(name, index)
      guard lib.X509_NAME_ENTRY_set(entry) == index,
        let data = lib.X509_NAME_ENTRY_get_data(entry),
        lib.ASN1_STRING_type(data) == V_ASN1_UTF8STRING,
        let value = String(validating: OpenSSL.content(data, lib), as: UTF8.self)
      else { throw CertificateDefect.subject }
      attributes.append(
        Attribute(
          identifier: lib.OBJ_obj2nid(lib.X509_NAME_ENTRY_get_object(entry)), value: value))
    }
    return attributes
  }
}
