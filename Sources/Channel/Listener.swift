internal import Glibc
public import System

/// A port at which other devices connect.
public final class Listener: Sendable {
  private let descriptor: Int32
  /// The address at which it listens, with the port that the system chose if it was 0.
  public let address: Address

  /// The port.
  public var port: UInt16 { address.port }

  /// How many connections the kernel keeps until they are accepted. If the queue is full, a client
  /// waits a second before its next attempt.
  private static let backlog: Int32 = 1024

  /// Listens at `address`. The host `*` means all addresses of this device, IPv6 and IPv4; the port 0 means a
  /// free port. Throws `portInUse`, `addressUnavailable` or `hostUnknown`.
  public init(at address: Address = Address(host: Address.anyHost, port: 0)) throws {
    if address.host == Address.anyHost {
      do {
        descriptor = try Listener.open(Address(host: "::", port: address.port), dual: true)
      } catch ChannelError.addressUnavailable, ChannelError.system(call: "socket", _) {
        // If the host has no IPv6, listen only at its IPv4 addresses.
        descriptor = try Listener.open(Address(host: "0.0.0.0", port: address.port), dual: false)
      }
    } else {
      descriptor = try Listener.open(address, dual: false, deadline: .now + 10)
    }
    let descriptor = descriptor
    let bound = SocketAddress { getsockname(descriptor, $0, $1) }.address
    self.address =
      address.host == Address.anyHost ? Address(host: address.host, port: bound.port) : bound
  }

  deinit { close(descriptor) }

  private static func open(_ address: Address, dual: Bool, deadline: Instant = .never) throws
    -> Int32
  {
    let resolved = try SocketAddress.resolve(address, deadline: deadline, cancellation: nil)
    guard let first = resolved.first else {
      throw ChannelError.hostUnknown(host: address.host, reason: "no address")
    }
    let descriptor = try Socket.make(family: first.family)
    Socket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    if first.family == AF_INET6 { Socket.set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, dual ? 0 : 1) }
    if first.with({ bind(descriptor, $0, $1) }) != 0 || listen(descriptor, backlog) != 0 {
      let code = errno
      close(descriptor)
      throw code == EADDRINUSE
        ? ChannelError.portInUse(address) : .addressUnavailable(address, code: code)
    }
    return descriptor
  }

  /// Whether this machine can connect to the address within a second.
  public static func isReachable(_ address: Address) -> Bool {
    let deadline = Instant.now + 1
    // Every failure means that the address is not reachable.
    let found = try? SocketAddress.resolve(address, deadline: deadline, cancellation: nil)
    guard let first = found?.first else { return false }
    // If the connection fails, the address is not reachable.
    return (try? Socket.connect(to: first, deadline: deadline, cancellation: nil)) != nil
  }

  /// The waiting connections, at most `count`, oldest first. Throws `system` if there are no descriptors left,
  /// unless it has accepted some connections.
  public func acceptWaiting(atMost count: Int) throws -> [Socket] {
    var accepted: [Socket] = []
    while accepted.count < count {
      var connection: Int32 = -1
      let peer = SocketAddress { address, length in
        connection = Glibc.accept(descriptor, address, length)
        return connection < 0 ? -1 : 0
      }
      if connection >= 0, DescriptorReserve.holds(connection) {
        close(connection)
        errno = EMFILE
      } else if connection >= 0 {
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        accepted.append(Socket(takingOwnership: connection, peer: peer.address))
        continue
      }
      switch errno {
      case EAGAIN: return accepted
      // The client has closed the connection again, or the error belongs to the network: accept(2).
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
        EOPNOTSUPP, ENETUNREACH, EPERM:
        continue
      case let code:
        if accepted.isEmpty { throw ChannelError.system(call: "accept", code: code) }
        return accepted
      }
    }
    return accepted
  }

  /// Waits until there is a new connection, or one of `sockets` has data or was closed, or until
  /// the deadline.
  ///
  /// - Returns: the positions of those sockets, and whether there is a new connection.
  public func wait(
    orFor sockets: [Socket], deadline: Instant, cancellation: CancellationToken
  ) throws(ChannelError) -> (heard: [Int], isCalled: Bool) {
    let ready = Set(
      Poll.wait(
        for: [cancellation.descriptor, descriptor] + sockets.map(\.descriptor), until: deadline))
    if ready.contains(cancellation.descriptor) { throw .cancelled }
    let heard = sockets.indices.filter { ready.contains(sockets[$0].descriptor) }
    return (heard, ready.contains(descriptor))
  }
}
