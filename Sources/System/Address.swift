/// A host and a port, as people write them.
public struct Address: Hashable, Sendable, CustomStringConvertible {
  /// A name, an IPv4 address, or an IPv6 address without brackets, with `%SCOPE` where needed.
  public let host: String
  /// The port; 0 means any free port for listening.
  public let port: UInt16

  /// The host that means all of this device's addresses, for listening.
  public static let anyHost = "*"

  /// An address from valid parts.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, `[IPV6]:PORT`, `[IPV6%SCOPE]:PORT` or `*:PORT`; nil for anything else.
  public init?(parsing text: String) {
    let bytes = Array(text.utf8)
    let host: ArraySlice<UInt8>
    let digits: ArraySlice<UInt8>
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end + 1 < bytes.count,
        bytes[end + 1] == UInt8(ascii: ":"), bytes[1..<end].contains(UInt8(ascii: ":"))
      else { return nil }
      host = bytes[1..<end]
      digits = bytes[(end + 2)...]
    } else {
      // Several colons without brackets: the port is ambiguous.
      let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      (host, digits) = (parts[0], parts[1])
    }
    guard !host.isEmpty, host.count <= 320,
      host.allSatisfy({ $0 >= 0x80 || Address.hostCharacters.contains($0) }),
      (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self))
    else { return nil }
    self.host = String(decoding: host, as: UTF8.self)
    self.port = port
  }

  /// The address in the form that `init(parsing:)` reads.
  public var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private static let hostCharacters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:%*".utf8)
}
