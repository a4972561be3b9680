// In a whole-module build, the C library's types also count as CAvahi's.
internal import CAvahi
internal import Glibc
internal import System

/// Tests whether multicast DNS (RFC 6762) of other machines arrives here: discovery depends on it, and
/// guest networks and isolated Wi-Fi often block it.
public enum MulticastProbe {
  /// The packets received.
  public struct Result: Sendable, Equatable {
    /// The interfaces with multicast.
    public let interfaces: [String]
    /// The IPv4 addresses of the other machines that sent packets, sorted.
    public let others: [String]
  }

  private static let group: UInt32 = 0xe000_00fb
  private static let port: UInt16 = 5353

  /// Asks all devices on the local network for their services, and listens for `seconds`.
  ///
  /// - Throws: `DiscoveryError.invalidRecord` with the reason if the port cannot be shared.
  public static func run(seconds: Double) throws -> Result {
    let own = ownAddresses()
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw DiscoveryError.invalidRecord("socket: error \(errno)") }
    defer { close(descriptor) }
    // The daemon uses the same port.
    set(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1))
    set(descriptor, SOL_SOCKET, SO_REUSEPORT, Int32(1))
    guard withSocketAddress(address(INADDR_ANY, port), { bind(descriptor, $0, $1) }) == 0 else {
      throw DiscoveryError.invalidRecord("port 5353: error \(errno)")
    }
    set(descriptor, IPPROTO_IP, IP_MULTICAST_TTL, Int32(255))
    for interface in own {
      var membership = ip_mreqn()
      membership.imr_multiaddr.s_addr = group.bigEndian
      membership.imr_ifindex = Int32(bitPattern: interface.index)
      set(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership)
      set(descriptor, IPPROTO_IP, IP_MULTICAST_IF, membership)
      _ = withSocketAddress(address(group, port)) { to, size in
        sendto(descriptor, query, query.count, 0, to, size)
      }
    }
    let heard = listen(descriptor, seconds: seconds).subtracting(own.map(\.address))
    return Result(interfaces: own.map(\.name), others: heard.sorted().map(text))
  }

  /// The IPv4 addresses of this device, as text.
  public static func ownHosts() -> [String] { ownAddresses().map { text($0.address) } }

  private static func text(_ address: UInt32) -> String {
    [24, 16, 8, 0].map { String(address >> UInt32($0) & 0xFF) }.joined(separator: ".")
  }

  /// `_services._dns-sd._udp.local PTR`: RFC 6763, section 9.
  private static let query: [UInt8] =
    [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    + ["_services", "_dns-sd", "_udp", "local"].flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    + [0, 0, 12, 0, 1]

  private static func listen(_ descriptor: Int32, seconds: Double) -> Set<UInt32> {
    var heard: Set<UInt32> = []
    var buffer = [UInt8](repeating: 0, count: 9000)
    let end = Instant.now + seconds
    while !Poll.wait(for: [descriptor], until: end).isEmpty, !end.hasPassed {
      var from = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &from) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &buffer, buffer.count, 0, $0, &size)
        }
      }
      if count > 0 { heard.insert(UInt32(bigEndian: from.sin_addr.s_addr)) }
    }
    return heard
  }

  /// The IPv4 addresses of interfaces that are up and have multicast.
  private static func ownAddresses() -> [(name: String, index: UInt32, address: UInt32)] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0, let first else { return [] }
    defer { freeifaddrs(first) }
    return sequence(first: first, next: { $0.pointee.ifa_next }).compactMap { entry in
      let entry = entry.pointee
      let flags = Int32(bitPattern: entry.ifa_flags)
      guard let address = entry.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
        flags & Int32(IFF_UP) != 0, flags & Int32(IFF_MULTICAST) != 0,
        flags & Int32(IFF_LOOPBACK) == 0
      else { return nil }
      let name = String(cString: entry.ifa_name)
      let number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
      }
      return (name, if_nametoindex(entry.ifa_name), number)
    }
  }

  private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.bigEndian
    return address
  }

  private static func set(
    _ descriptor: Int32, _ level: some BinaryInteger, _ option: Int32, _ value: some Any
  ) {
    _ = withUnsafeBytes(of: value) {
      setsockopt(descriptor, Int32(level), option, $0.baseAddress, socklen_t($0.count))
    }
  }
}
