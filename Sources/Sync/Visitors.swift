internal import Channel
internal import Glibc

/// Who is connected to a port, and who has to go when there are too many; notes-protocol(7), LIMITS.
///
/// Whoever has not yet proved who they are holds a place for as long as nobody else needs it: the
/// oldest handshake is dropped for a new one. So silence, however often it connects, keeps no member
/// out, and a member who has been let in is never dropped.
struct Visitors {
  /// How many may be there.
  struct Limits {
    var handshakes = ProtocolLimits.handshakes
    var handshakesPerAddress = ProtocolLimits.handshakesPerAddress
    var sessions = ProtocolLimits.sessions
    var sessionsPerAddress = ProtocolLimits.sessionsPerAddress
  }

  /// Names a visitor; later ones are greater.
  typealias Ticket = Int

  private let limits: Limits
  private var next = 0
  private var handshakes: [Ticket: Visitor] = [:]
  private var sessions: [Ticket: String] = [:]
  private var dropped: Set<Ticket> = []

  private struct Visitor {
    var network: String
    var socket: Socket
  }

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many there are, those included that were dropped and have not gone yet.
  var count: Int { handshakes.count + sessions.count + dropped.count }

  /// A new connection, and the one that has to make room for it.
  mutating func arrive(_ socket: Socket) -> (ticket: Ticket, dropped: Socket?) {
    let network = Self.network(of: socket.peer.host)
    var oldest: (key: Ticket, value: Visitor)?
    let neighbours = handshakes.filter { $0.value.network == network }
    if neighbours.count >= limits.handshakesPerAddress {
      oldest = neighbours.min { $0.key < $1.key }
    } else if handshakes.count >= limits.handshakes {
      oldest = handshakes.min { $0.key < $1.key }
    }
    if let oldest {
      handshakes[oldest.key] = nil
      dropped.insert(oldest.key)
    }
    next += 1
    handshakes[next] = Visitor(network: network, socket: socket)
    return (next, oldest?.value.socket)
  }

  /// The handshake is over; false when there are too many sessions for another.
  mutating func begin(_ ticket: Ticket) -> Bool {
    guard let visitor = handshakes[ticket],
      sessions.count < limits.sessions,
      sessions.values.count(where: { $0 == visitor.network }) < limits.sessionsPerAddress
    else { return false }
    handshakes[ticket] = nil
    sessions[ticket] = visitor.network
    return true
  }

  /// Whether the visitor had to make room for another.
  func wasDropped(_ ticket: Ticket) -> Bool { dropped.contains(ticket) }

  mutating func leave(_ ticket: Ticket) {
    handshakes[ticket] = nil
    sessions[ticket] = nil
    dropped.remove(ticket)
  }

  /// What counts as one address: an IPv4 address, a link-local IPv6 one, and of the others the first
  /// 64 bits, since the rest is for everybody to choose who has them (RFC 4291, section 2.5.4).
  static func network(of host: String) -> String {
    guard host.utf8.contains(UInt8(ascii: ":")), !host.utf8.contains(UInt8(ascii: "%")) else {
      return host
    }
    var address = in6_addr()
    guard inet_pton(AF_INET6, host, &address) == 1 else { return host }
    let bytes = withUnsafeBytes(of: &address) { Array($0) }
    if bytes[0] == 0xfe, bytes[1] & 0xc0 == 0x80 { return host }
    return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
  }
}
