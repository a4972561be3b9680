internal import Glibc
internal import Synchronization
internal import System

/// A connected, non-blocking TCP socket; closed with the last reference to it.
public final class Socket: Sendable {
  let descriptor: Int32
  /// The other side.
  public let peer: Address

  init(takingOwnership descriptor: Int32, peer: Address) {
    self.descriptor = descriptor
    self.peer = peer
  }

  deinit {
    countTraffic()
    close(descriptor)
  }

  // Whether `Counter` has counted the connection's bytes.
  private let isCounted = Atomic(false)

  /// Adds the connection's traffic to the counters, once, at its end.
  private func countTraffic() {
    guard
      isCounted.compareExchange(
        expected: false, desired: true, ordering: .relaxed
      ).exchanged,
      let traffic = TCPTraffic(of: descriptor)
    else { return }
    Counter.sentBytes.add(traffic.sent)
    Counter.receivedBytes.add(traffic.received)
  }

  /// Sets the required options. A vanished peer is noticed within the limits of notes-protocol(7);
  /// all values are in seconds, except the last.
  func prepare() {
    Socket.set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1)
    Socket.set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    Socket.set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 10)
    Socket.set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 5)
    Socket.set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3)
    Socket.set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, 20_000)
  }

  /// Holds back small writes until the connection is closed, so that they need few packets; at most for
  /// 200 ms (tcp(7)).
  func holdBack() { Socket.set(descriptor, IPPROTO_TCP, TCP_CORK, 1) }

  /// Whether the other side has disconnected without sending anything.
  public var isDeserted: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
  }

  /// Whether this machine no longer has the connection's local address, for example after changing
  /// networks. Such a connection is dead, but the kernel reports no error.
  public var isHomeless: Bool {
    let own = SocketAddress { getsockname(descriptor, $0, $1) }
    // If the check fails, the connection continues.
    guard let probe = try? Socket.make(family: own.family) else { return false }
    defer { close(probe) }
    let status = own.atAnyPort.with { bind(probe, $0, $1) }
    return status != 0 && [EADDRNOTAVAIL, ENODEV].contains(errno)
  }

  /// Ends the connection at once, from any thread; this wakes a thread that waits for it.
  public func abandon() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  static func connect(
    to address: SocketAddress, deadline: Instant, cancellation: CancellationToken?
  ) throws -> Socket {
    let peer = address.address
    let descriptor = try make(family: address.family)
    let socket = Socket(takingOwnership: descriptor, peer: peer)
    var code: Int32 = 0
    if address.with({ Glibc.connect(descriptor, $0, $1) }) != 0 { code = errno }
    if code == EINPROGRESS || code == EINTR {
      try Wait.until(
        descriptor, .writing, deadline: deadline, phase: .connecting, cancellation: cancellation)
      var length = socklen_t(MemoryLayout<Int32>.size)
      code = 0
      if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
    }
    switch code {
    case 0:
      Counter.roundTrips.add()
      return socket
    case ECONNREFUSED: throw ChannelError.connectionRefused(peer)
    default: throw ChannelError.unreachable(peer, code: code)
    }
  }

  static func make(family: Int32) throws(ChannelError) -> Int32 {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(kind), 0)
    if descriptor < 0 { throw .system(call: "socket", code: errno) }
    if DescriptorReserve.holds(descriptor) {
      close(descriptor)
      throw .system(call: "socket", code: EMFILE)
    }
    return descriptor
  }

  static func set(_ descriptor: Int32, _ level: some BinaryInteger, _ option: Int32, _ value: Int32)
  {
    var value = value
    setsockopt(descriptor, Int32(level), option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Shuts down this side, and waits until the other side has done the same: closing with unread
  /// input would reset the connection and lose the last bytes sent.
  func finish(deadline: Instant, cancellation: CancellationToken?) {
    defer { countTraffic() }
    shutdown(descriptor, Int32(SHUT_WR))
    var bytes = [UInt8](repeating: 0, count: 16384)
    var left = 64
    while left > 0 {
      let count = read(descriptor, &bytes, bytes.count)
      if count > 0 {
        left -= 1
      } else if count == 0 || (errno != EAGAIN && errno != EINTR)
        // The wait fails at the deadline, on cancellation, and if the connection is lost.
        || (try? Wait.until(
          descriptor, .reading, deadline: deadline, phase: .receiving, cancellation: cancellation))
          == nil
      {
        return
      }
    }
  }
}
