public import Glibc

/// Sockets of this machine: unix(7). A path that begins with `@` is an abstract name.
public enum UnixSocket {
  /// Makes a socket, which child processes do not inherit and which the caller closes; -1 with errno
  /// set if that fails.
  public static func make(_ kind: __socket_type) -> Int32 {
    socket(AF_UNIX, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  /// Binds the socket to a name: bind(2). 0, or -1 with errno set.
  public static func bind(_ descriptor: Int32, to path: String) -> Int32 {
    with(path) { Glibc.bind(descriptor, $0, $1) }
  }

  /// Connects the socket to the one with that name: connect(2). 0, or -1 with errno set.
  public static func connect(_ descriptor: Int32, to path: String) -> Int32 {
    with(path) { Glibc.connect(descriptor, $0, $1) }
  }

  /// Sends a datagram to the socket with that name. Does nothing if there is no such socket.
  public static func send(_ message: [UInt8], on descriptor: Int32, to path: String) {
    _ = with(path) {
      Int32(sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, $1))
    }
  }

  private static func with(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withSocketAddress(address, size: MemoryLayout<sa_family_t>.size + bytes.count, body)
  }
}

/// Calls `body` with a pointer to the address of a socket: a structure of any family, or its first
/// bytes.
package func withSocketAddress<Address, Value>(
  _ address: Address, size: Int = MemoryLayout<Address>.size,
  _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
) -> Value {
  withUnsafePointer(to: address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
  }
}

/// A socket for the kernel's messages about links and addresses: rtnetlink(7).
public enum RouteSocket {
  // From <linux/netlink.h> and <linux/rtnetlink.h>, which Swift cannot import: AF_NETLINK, and
  // RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR.
  private static let family: Int32 = 16
  private static let groups: UInt32 = 0x1 | 0x10 | 0x100

  /// Opens a non-blocking socket, which the caller closes.
  public static func open() throws(SystemCallError) -> Int32 {
    let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(family, type, 0)
    guard socket >= 0 else { throw .system(call: "socket", path: "rtnetlink", errno: errno) }
    // struct sockaddr_nl: family, padding, port, groups.
    let address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(family), 0, 0, groups)
    guard withSocketAddress(address, { bind(socket, $0, $1) }) == 0 else {
      let failure = errno
      close(socket)
      throw .system(call: "bind", path: "rtnetlink", errno: failure)
    }
    return socket
  }
}

extension ArraySlice<UInt8> {
  /// The number at an offset, in the machine's byte order, as the kernel writes it.
  package func number<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }
}

/// The descriptors that connections must leave free, so that a flood of connections cannot prevent saves.
public enum DescriptorReserve {
  private static let count = 128

  /// Whether a new descriptor is one of the last: 128 are reserved, or a quarter if the process may
  /// open fewer than 512. The kernel assigns the lowest free number.
  public static func holds(_ descriptor: Int32) -> Bool {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return rlim_t(descriptor) >= limit.rlim_cur - min(rlim_t(count), limit.rlim_cur / 4)
  }
}
