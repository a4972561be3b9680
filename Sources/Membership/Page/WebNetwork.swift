internal import Glibc
internal import System

/// The names and addresses at which the page is served on the network: this machine's private addresses,
/// and its name there.
public struct WebNetwork: Sendable {
  /// This machine's name on the network, for example `desk.local`; nil if the name is unusable.
  public var name: String?
  /// The addresses at which the page is served; the first one is used in links.
  public var addresses: [String]
  /// This machine's public addresses: the page is not served there.
  public var publicAddresses: [String]
  /// Whether the network knows the name, so that links may contain it.
  public var isNamePublished: Bool

  /// A network with this name and these addresses.
  public init(name: String?, addresses: [String], isNamePublished: Bool = false) {
    (self.name, self.addresses, publicAddresses) = (name, addresses, [])
    self.isNamePublished = isNamePublished
  }

  /// This machine's present network. Link-local IPv6 addresses are left out: browsers do not accept
  /// addresses with a scope.
  public static func ofThisMachine() -> WebNetwork {
    let all = Address.ofThisMachine(limit: 64)
    let usual = PrivateAddress.usual()
    let own = all.filter(PrivateAddress.isPrivate)
    var network = WebNetwork(
      name: hostName(),
      addresses: own.filter { $0 == usual } + own.filter { $0 != usual }.prefix(15))
    network.publicAddresses = all.filter { !PrivateAddress.isPrivate($0) }
    network.isNamePublished = Counted.access("/run/avahi-daemon/socket", F_OK) == 0
    return network
  }

  /// The name that Avahi gives this machine: the first part of its host name, below `local`.
  private static func hostName() -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
    let text = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let label = text.prefix { $0 != "." }.lowercased()
    let isPlain = label.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard isPlain, (1...63).contains(label.utf8.count), label != "localhost" else { return nil }
    return label + ".local"
  }
}

/// The reason why there is no page on the network.
public enum WebNetworkError: Error, CustomStringConvertible {
  /// This machine has no private address.
  case noAddress

  public var description: String { "this machine has no private address on a network" }
}

/// Addresses as text.
package enum PrivateAddress {
  /// Whether an address belongs to a private network (RFC 1918, RFC 4193), or is link-local IPv4
  /// (RFC 3927).
  package static func isPrivate(_ text: String) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      switch (bytes[0], bytes[1]) {
      case (10, _), (172, 16...31), (192, 168), (169, 254): return true
      default: return false
      }
    }
    return Self.bytes(ofIPv6: text).map { $0[0] & 0xFE == 0xFC } ?? false
  }

  /// The 16 bytes of an IPv6 address; nil if the text is invalid.
  package static func bytes(ofIPv6 text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
  }

  /// The source address that this machine would use for a packet to the Internet. No packet is sent.
  static func usual() -> String? {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(9).bigEndian
    // 192.0.2.1 belongs to nobody (RFC 5737).
    address.sin_addr.s_addr = in_addr_t(0xC000_0201).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
      }
    }
    guard isKnown else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
    guard inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count)) != nil else {
      return nil
    }
    return String(upToNUL: text)
  }
}
