/// The extensions of a ClientHello that a server reads before it chooses a context. Anybody can send these
/// bytes, so every length is checked.
enum ClientHello {
  /// Whether supported_versions (RFC 8446 section 4.2.1) includes TLS 1.3.
  static func offersTLS13(_ supportedVersions: [UInt8]) -> Bool {
    guard let length = supportedVersions.first, supportedVersions.count == Int(length) + 1 else {
      return false
    }
    return stride(from: 1, to: supportedVersions.count - 1, by: 2).contains {
      supportedVersions[$0] == 0x03 && supportedVersions[$0 + 1] == 0x04
    }
  }

  /// The names in the ALPN extension (RFC 7301 section 3.1); empty if it is malformed.
  static func protocols(_ list: [UInt8]) -> [[UInt8]] {
    guard list.count >= 2, list.count == (Int(list[0]) << 8 | Int(list[1])) + 2 else { return [] }
    var names: [[UInt8]] = []
    var rest = list.dropFirst(2)
    while let length = rest.first.map(Int.init) {
      guard length > 0, rest.count > length else { return [] }
      names.append(Array(rest.dropFirst().prefix(length)))
      rest = rest.dropFirst(1 + length)
    }
    return names
  }

  /// The host name in the server_name extension (RFC 6066 section 3), in lower case; nil if there
  /// is none.
  static func serverName(_ list: [UInt8]) -> String? {
    guard list.count >= 5, list.count == (Int(list[0]) << 8 | Int(list[1])) + 2, list[2] == 0,
      list.count >= (Int(list[3]) << 8 | Int(list[4])) + 5
    else { return nil }
    let name = list[5..<5 + (Int(list[3]) << 8 | Int(list[4]))]
    guard (1...253).contains(name.count), name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    return String(decoding: name.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
