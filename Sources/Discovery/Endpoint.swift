internal import Glibc

/// An address and a port at which a service is announced.
public struct Endpoint: Hashable, Sendable {
  /// The address in numbers, with its scope where it needs one, as getaddrinfo(3) reads it:
  /// `192.168.1.7`, `fe80::1%eth0`.
  public let host: String
  /// The TCP port.
  public let port: UInt16
  /// The index of the interface on which it was found.
  public let interface: UInt32

  /// An endpoint at a known address.
  public init(host: String, port: UInt16, interface: UInt32 = 0) {
    self.host = host
    self.port = port
    self.interface = interface
  }

  /// An address received from the network; nil when nothing can listen on it.
  init?(address: String, port: UInt16, interface: UInt32) {
    guard port != 0, let family = Self.family(of: address), family != .useless else { return nil }
    let host =
      family == .linkLocalIPv6
      ? "\(address)%\(Self.name(ofInterface: interface) ?? String(interface))" : address
    self.init(host: host, port: port, interface: interface)
  }
}

extension Endpoint: CustomStringConvertible {
  /// `192.168.1.7:4000`, `[fe80::1%eth0]:4000`.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Endpoint: Comparable {
  /// The address that more often works comes first: IPv4, then IPv6, then IPv6 of one link.
  public static func < (a: Endpoint, b: Endpoint) -> Bool {
    (a.rank, a.host, a.port, a.interface) < (b.rank, b.host, b.port, b.interface)
  }

  private var rank: Int {
    (Self.family(of: String(host.prefix { $0 != "%" })) ?? .useless).rawValue
  }
}

extension Endpoint {
  private enum Family: Int { case ipv4, ipv6, linkLocalIPv6, useless }

  private static func family(of address: String) -> Family? {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      let first = UInt8(truncatingIfNeeded: UInt32(bigEndian: four.s_addr) >> 24)
      return first == 0 || first >= 224 ? .useless : .ipv4
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, address, &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: &six) { Array($0) }
    if bytes.allSatisfy({ $0 == 0 }) || bytes[0] == 0xff { return .useless }
    return bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 ? .linkLocalIPv6 : .ipv6
  }

  private static func name(ofInterface index: UInt32) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard if_indextoname(index, &buffer) != nil else { return nil }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
