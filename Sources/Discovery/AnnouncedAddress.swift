internal import Glibc
internal import System

extension Address {
  /// An address received from the network on an interface; nil if it cannot be used. A link-local
  /// address gets its scope, in the form of getaddrinfo(3): `fe80::1%eth0`.
  init?(announced address: String, port: UInt16, interface: UInt32) {
    guard port != 0, let family = Self.family(of: address), family != .useless else { return nil }
    let host =
      family == .linkLocalIPv6
      ? "\(address)%\(Self.name(ofInterface: interface) ?? String(interface))" : address
    self.init(host: host, port: port)
  }

  /// The order of attempts: IPv4, then IPv6, then link-local IPv6, as the first ones work more
  /// often.
  func isTried(before other: Address) -> Bool {
    (rank, host, port) < (other.rank, other.host, other.port)
  }

  private var rank: Int {
    (Self.family(of: String(host.prefix { $0 != "%" })) ?? .useless).rawValue
  }

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
    return if_indextoname(index, &buffer) == nil ? nil : String(upToNUL: buffer)
  }
}
