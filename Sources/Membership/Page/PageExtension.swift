internal import COpenSSL
internal import Glibc

/// An extension of a certificate for browsers (RFC 5280, section 4.2), with its value in DER.
struct PageExtension {
  let identifier: String
  let isCritical: Bool
  let value: [UInt8]

  private static let constraintsIdentifier = "2.5.29.30"

  /// The extensions of an authority, with at most `below` authorities below it.
  static func authority(above below: UInt8) -> [PageExtension] {
    [
      PageExtension(
        identifier: "2.5.29.19", isCritical: true,
        value: DER.sequence([0x01, 0x01, 0xFF] + [0x02, 0x01, below])),
      // Only keyCertSign.
      PageExtension(identifier: "2.5.29.15", isCritical: true, value: [0x03, 0x02, 0x02, 0x04]),
      serverAuth,
    ]
  }

  /// The extensions of a server's certificate, with its name and addresses.
  static func server(name: String, addresses: [String]) -> [PageExtension] {
    let names =
      DER.value(0x82, Array(name.utf8))
      + addresses.compactMap(bytes(ofAddress:)).flatMap { DER.value(0x87, $0) }
    return [
      PageExtension(identifier: "2.5.29.19", isCritical: true, value: DER.sequence([])),
      // Only digitalSignature.
      PageExtension(identifier: "2.5.29.15", isCritical: true, value: [0x03, 0x02, 0x07, 0x80]),
      serverAuth,
      PageExtension(identifier: "2.5.29.17", isCritical: false, value: DER.sequence(names)),
    ]
  }

  /// Only for TLS servers (1.3.6.1.5.5.7.3.1).
  private static let serverAuth = PageExtension(
    identifier: "2.5.29.37", isCritical: false,
    value: DER.sequence([0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]))

  /// The private networks (RFC 1918, RFC 4193) and link-local ones (RFC 3927, RFC 4291): addresses
  /// and masks.
  private static let networks: [[UInt8]] = [
    [10, 0, 0, 0, 255, 0, 0, 0], [172, 16, 0, 0, 255, 240, 0, 0],
    [192, 168, 0, 0, 255, 255, 0, 0], [169, 254, 0, 0, 255, 255, 0, 0],
    network([0xFC], [0xFE]), network([0xFE, 0x80], [0xFF, 0xC0]),
  ]

  private static func network(_ address: [UInt8], _ mask: [UInt8]) -> [UInt8] {
    let rest = [UInt8](repeating: 0, count: 16 - address.count)
    return address + rest + mask + rest
  }

  /// The permitted subtrees: the name, names below it, and the private networks.
  static func constraints(name: String) -> PageExtension {
    let trees =
      DER.sequence(DER.value(0x82, Array(name.utf8)))
      + networks.flatMap { DER.sequence(DER.value(0x87, $0)) }
    return PageExtension(
      identifier: constraintsIdentifier, isCritical: true,
      value: DER.sequence(DER.value(0xA0, trees)))
  }

  /// The name that a certificate's constraints permit; nil if they differ from those of
  /// `constraints`.
  static func constrainedName(of der: [UInt8]) throws -> String? {
    let subject = try Certificate.decoding(der) { certificate, lib -> [UInt8]? in
      for index in 0..<max(lib.X509_get_ext_count(certificate), 0) {
        let entry = lib.X509_get_ext(certificate, index)
        var text = [CChar](repeating: 0, count: 80)
        let length = lib.OBJ_obj2txt(
          &text, Int32(text.count), lib.X509_EXTENSION_get_object(entry), 1)
        guard length == constraintsIdentifier.utf8.count,
          text.starts(with: constraintsIdentifier.utf8.map { CChar(bitPattern: $0) })
        else { continue }
        return OpenSSL.content(lib.X509_EXTENSION_get_data(entry), lib)
      }
      return nil
    }
    guard let value = subject, let mark = value.firstIndex(of: 0x82), mark + 1 < value.count,
      case let end = mark + 2 + Int(value[mark + 1]), end <= value.count
    else { return nil }
    let name = String(decoding: value[(mark + 2)..<end], as: UTF8.self)
    return constraints(name: name).value == value ? name : nil
  }

  /// The 4 or 16 bytes of an address.
  static func bytes(ofAddress text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }
}

/// The part of DER that these extensions use.
enum DER {
  /// The content of the value at the start of these bytes, and the bytes after it; nil if no value with this
  /// tag is there.
  static func read(
    _ tag: UInt8, _ bytes: ArraySlice<UInt8>
  ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    guard bytes.first == tag, let first = bytes.dropFirst().first else { return nil }
    // Below 0x80 the byte is the length; otherwise it says how many bytes of the length follow.
    let more = first < 0x80 ? 0 : Int(first & 0x7F)
    guard more <= 2 else { return nil }
    let count =
      more == 0 ? Int(first) : bytes.dropFirst(2).prefix(more).reduce(0) { $0 << 8 | Int($1) }
    let behind = bytes.dropFirst(2 + more)
    guard behind.count >= count else { return nil }
    return (behind.prefix(count), behind.dropFirst(count))
  }

  static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }

  /// Content of up to 65,535 bytes.
  static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      count < 0x80
      ? [UInt8(count)]
      : count < 0x100
        ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
    return [tag] + length + content
  }
}
