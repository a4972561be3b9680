import Glibc
import Synchronization
import TestSupport

@testable import Channel

/// Passes the bytes of connections on, and keeps them: what somebody on the network sees.
final class RecordingProxy: Sendable {
  /// One direction of one connection.
  struct Stream: Sendable {
    var bytes: [UInt8] = []
  }

  let port: UInt16
  private let target: UInt16
  private let listener: Listener
  private let token: CancellationToken
  private let recorded = Mutex<[Stream]>([])
  private let isSilent = Mutex(false)

  init(to target: UInt16) throws {
    self.target = target
    listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    port = listener.port
    token = try CancellationToken()
    startThread { [self] in
      while let client = try? listener.accept(cancellation: token) { serve(client) }
    }
  }

  func stop() { token.cancel() }

  /// Passes nothing on any more, and leaves the connections open: the other end has vanished.
  func hush() { isSilent.withLock { $0 = true } }

  /// What was seen, a direction of a connection each.
  var streams: [Stream] { recorded.withLock { $0 } }

  private func serve(_ client: Socket) {
    let address = try? SocketAddress.resolve(
      Address(host: "127.0.0.1", port: target), deadline: .after(seconds: 20), cancellation: nil)
    guard let first = address?.first,
      let server = try? Socket.connect(
        to: first, deadline: .after(seconds: 20), cancellation: nil)
    else { return }
    for (from, to) in [(client, server), (server, client)] {
      let index = recorded.withLock { recorded in
        recorded.append(Stream())
        return recorded.count - 1
      }
      startThread { [self] in pass(from, to, index) }
    }
  }

  private func pass(_ from: Socket, _ to: Socket, _ index: Int) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      guard
        (try? Wait.until(
          from.descriptor, .reading, deadline: .after(seconds: 180), phase: .receiving,
          cancellation: token)) != nil
      else { break }
      let count = read(from.descriptor, &buffer, buffer.count)
      if count < 0, errno == EAGAIN { continue }
      guard count > 0 else { break }
      if isSilent.withLock({ $0 }) { continue }
      recorded.withLock { $0[index].bytes += buffer[..<count] }
      var sent = 0
      while sent < count {
        let written = buffer[sent..<count].withUnsafeBytes {
          send(to.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if written > 0 {
          sent += written
        } else if errno == EAGAIN {
          _ = try? Wait.until(
            to.descriptor, .writing, deadline: .after(seconds: 40), phase: .sending,
            cancellation: token)
        } else {
          return
        }
      }
    }
    shutdown(to.descriptor, Int32(SHUT_WR))
  }
}

/// A TLS record (RFC 8446, section 5.1).
struct TLSRecord {
  let type: UInt8
  let content: ArraySlice<UInt8>

  static let changeCipherSpec: UInt8 = 20
  static let handshake: UInt8 = 22
  static let encrypted: UInt8 = 23

  /// The records of a stream; nil when it is not made of whole records.
  static func all(of bytes: [UInt8]) -> [TLSRecord]? {
    var records: [TLSRecord] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard rest.count >= 5 else { return nil }
      let start = rest.startIndex
      let length = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
      guard rest.count >= 5 + length else { return nil }
      records.append(
        TLSRecord(type: rest[start], content: rest[(start + 5)..<(start + 5 + length)]))
      rest = rest[(start + 5 + length)...]
    }
    return records
  }
}
