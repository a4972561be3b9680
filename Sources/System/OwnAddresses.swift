internal import Glibc

extension Address {
  /// The hosts at which others on the network can reach this machine, IPv4 first, at most `limit`. They are
  /// those of interfaces that are up, without loopback and link-local addresses.
  public static func ofThisMachine(limit: Int) -> [String] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0, let first else { return [] }
    defer { freeifaddrs(first) }
    var found: [Int32: [String]] = [:]
    for entry in sequence(first: first, next: { $0.pointee.ifa_next }).map(\.pointee) {
      let flags = Int32(bitPattern: entry.ifa_flags)
      guard let address = entry.ifa_addr, flags & Int32(IFF_UP) != 0,
        flags & Int32(IFF_LOOPBACK) == 0, let host = numericHost(of: address),
        !host.hasPrefix("169.254."), !host.hasPrefix("fe80:")
      else { continue }
      found[Int32(address.pointee.sa_family), default: []].append(host)
    }
    return Array(((found[AF_INET] ?? []) + (found[AF_INET6] ?? [])).prefix(limit))
  }

  private static func numericHost(of address: UnsafeMutablePointer<sockaddr>) -> String? {
    let size: Int
    switch Int32(address.pointee.sa_family) {
    case AF_INET: size = MemoryLayout<sockaddr_in>.size
    case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
    default: return nil
    }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let status = getnameinfo(
      address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    return status == 0 ? String(upToNUL: text) : nil
  }
}
