internal import Glibc

/// The bytes that a TCP connection carried so far, without those that were sent again: tcp(7), TCP_INFO.
package struct TCPTraffic: Sendable {
  /// Bytes of ours.
  package let sent: Int
  /// Bytes of the other end's.
  package let received: Int

  // Of struct tcp_info in <linux/tcp.h>, of which <netinet/tcp.h> has the beginning alone.
  private static let size = 216
  private static let receivedOffset = 128, sentOffset = 200, repeatedOffset = 208

  /// Nil where the kernel does not tell (Linux 4.19 does), or it is no connection.
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
