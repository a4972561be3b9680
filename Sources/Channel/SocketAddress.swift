internal import Glibc
internal import System

struct SocketAddress: Sendable {
  private var bytes: [UInt8]

  private init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { fill($0, &length) }
    }
    bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(result == 0 ? Int(length) : 0)) }
  }

  func with<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
    return withSocketAddress(storage, size: bytes.count, body)
  }

  /// The same address with a port chosen by the system; the port is at the same offset in both
  /// families.
  var atAnyPort: SocketAddress {
    var other = self
    if bytes.count >= 4 { other.bytes.replaceSubrange(2..<4, with: [0, 0]) }
    return other
  }

  var family: Int32 { with { address, _ in Int32(address.pointee.sa_family) } }

  /// The address in numeric form, with an IPv6 scope if there is one, and IPv4 addresses in their
  /// own form.
  var address: Address {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let result = with {
      getnameinfo(
        $0, $1, &host, socklen_t(host.count), &port, socklen_t(port.count),
        NI_NUMERICHOST | NI_NUMERICSERV)
    }
    if result != 0 { return Address(host: "unknown", port: 0) }
    var text = String(upToNUL: host)
    if text.hasPrefix("::ffff:") && text.contains(".") { text.removeFirst(7) }
    return Address(host: text, port: UInt16(String(upToNUL: port)) ?? 0)
  }

  /// The addresses of a host. Names are looked up on a separate thread, as the resolver has no
  /// time-out.
  static func resolve(
    _ address: Address, deadline: Instant, cancellation: CancellationToken?
  ) throws -> [SocketAddress] {
    if case .success(let found) = lookUp(address, flags: AI_NUMERICHOST | AI_NUMERICSERV) {
      return found
    }
    let wakeup = try WakeUp()
    let found = BlockingQueue<Result<[SocketAddress], ChannelError>>()
    try startThread {
      found.put(lookUp(address, flags: AI_NUMERICSERV))
      wakeup.signal()
    }
    try Wait.until(
      wakeup.descriptor, .reading, deadline: deadline, phase: .resolving, cancellation: cancellation
    )
    return try found.take(until: .now)?.get() ?? []
  }

  private static func lookUp(_ address: Address, flags: Int32)
    -> Result<[SocketAddress], ChannelError>
  {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = flags
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(address.host, String(address.port), &hints, &list)
    guard result == 0, let list else {
      return .failure(
        .hostUnknown(host: address.host, reason: String(cString: gai_strerror(result))))
    }
    defer { freeaddrinfo(list) }
    return .success(
      sequence(first: list, next: { $0.pointee.ai_next }).compactMap { entry in
        let length = Int(entry.pointee.ai_addrlen)
        return entry.pointee.ai_addr.map {
          SocketAddress(bytes: Array(UnsafeRawBufferPointer(start: $0, count: length)))
        }
      })
  }
}
