internal import Glibc

/// The bytes that a TCP connection has carried so far, without retransmissions: tcp(7), TCP_INFO.
package struct TCPTraffic: Sendable {
  /// Bytes sent by this side.
  package let sent: Int
  /// Bytes sent by the other side.
  package let received: Int

  // From struct tcp_info in <linux/tcp.h>; <netinet/tcp.h> has only its beginning.
  private static let size = 216
  private static let receivedOffset = 128, sentOffset = 200, repeatedOffset = 208

  /// Nil if the descriptor is not a connection, or the kernel does not provide the numbers (Linux 4.19 does).
  package init?(of descriptor: Int32) {
    var info = [UInt8](repeating: 0, count: Self.size)
    var length = socklen_t(info.count)
    guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0,
      length >= socklen_t(Self.size)
    else { return nil }
    func number(at offset: Int) -> Int {
      Int(truncatingIfNeeded: info[...].number(at: offset, as: UInt64.self))
    }
    sent = number(at: Self.sentOffset) - number(at: Self.repeatedOffset)
    received = number(at: Self.receivedOffset)
  }
}
