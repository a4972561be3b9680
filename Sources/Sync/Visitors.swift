internal import Channel
internal import Glibc

/// Who is connected to a port, and who has to go when there are too many; notes-protocol(7), LIMITS.
///
/// Whoever has not yet proved who they are holds a place for as long as nobody else needs it: the
/// oldest handshake of the address that has most of them is dropped for a new one. So silence, however
/// often it connects, keeps no member out, and a member who has been let in is never dropped.
///
/// Few handshakes are computed at once. The next is one from an address of which a device was let in
/// lately, or else from the one with fewest places: who floods a port waits behind who does not.
struct Visitors {
  /// How many may be there.
  struct Limits {
    var handshakes = ProtocolLimits.handshakes
    var handshakesPerAddress = ProtocolLimits.handshakesPerAddress
    var turns = ProtocolLimits.handshakesComputed
    var sessions = ProtocolLimits.sessions
    var sessionsPerAddress = ProtocolLimits.sessionsPerAddress
  }

  /// Names a visitor; later ones are greater.
  typealias Ticket = Int

  private let limits: Limits
  private var next = 0
  private var handshakes: [Ticket: Visitor] = [:]
  /// The handshakes of each network that has any, the oldest first.
  private var places: [String: [Ticket]] = [:]
  private var sessions: [Ticket: String] = [:]
  private var dropped: Set<Ticket> = []
  /// Handshakes that are being computed, and those that wait for that.
  private var computing: Set<Ticket> = []
  private var waiting: [Ticket: Mailbox<Bool>] = [:]
  /// Networks of devices that were let in, the latest last.
  private var familiar: [String] = []
  private static let familiarNetworks = 64

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
    var crowded: String?
    if places[network, default: []].count >= limits.handshakesPerAddress {
      crowded = network
    } else if handshakes.count >= limits.handshakes {
      crowded =
        places.min { left, right in
          left.value.count == right.value.count
            ? left.value[0] < right.value[0] : left.value.count > right.value.count
        }?.key
    }
    let oldest = crowded.flatMap { places[$0]?.first }
    let visitor = oldest.flatMap { vacate($0) }
    if let oldest {
      dropped.insert(oldest)
      waiting.removeValue(forKey: oldest)?.put(false)
    }
    next += 1
    handshakes[next] = Visitor(network: network, socket: socket)
    places[network, default: []].append(next)
    return (next, visitor?.socket)
  }

  /// Gives up the place of a handshake.
  @discardableResult
  private mutating func vacate(_ ticket: Ticket) -> Visitor? {
    guard let visitor = handshakes.removeValue(forKey: ticket) else { return nil }
    places[visitor.network]?.removeAll { $0 == ticket }
    if places[visitor.network]?.isEmpty == true { places[visitor.network] = nil }
    return visitor
  }

  /// The handshake is over; false when there are too many sessions for another.
  mutating func begin(_ ticket: Ticket) -> Bool {
    guard let visitor = handshakes[ticket],
      sessions.count < limits.sessions,
      sessions.values.count(where: { $0 == visitor.network }) < limits.sessionsPerAddress
    else { return false }
    vacate(ticket)
    sessions[ticket] = visitor.network
    familiar.removeAll { $0 == visitor.network }
    familiar.append(visitor.network)
    if familiar.count > Self.familiarNetworks { familiar.removeFirst() }
    return true
  }

  /// Asks for a turn to compute a handshake. It has come when this returns nil, or when the mailbox
  /// does.
  mutating func ask(_ ticket: Ticket) -> Mailbox<Bool>? {
    guard handshakes[ticket] != nil, computing.count >= limits.turns else {
      computing.insert(ticket)
      return nil
    }
    let mailbox = Mailbox<Bool>()
    waiting[ticket] = mailbox
    return mailbox
  }

  /// Ends a turn, if the visitor had one, and begins the next.
  mutating func answered(_ ticket: Ticket) {
    waiting[ticket] = nil
    guard computing.remove(ticket) != nil, computing.count < limits.turns, !waiting.isEmpty else {
      return
    }
    func rank(_ ticket: Ticket) -> (Int, Int, Ticket) {
      let network = handshakes[ticket]?.network ?? ""
      return (familiar.contains(network) ? 0 : 1, places[network]?.count ?? 0, ticket)
    }
    guard let next = waiting.keys.min(by: { rank($0) < rank($1) }) else { return }
    computing.insert(next)
    waiting.removeValue(forKey: next)?.put(true)
  }

  /// Whether the visitor had to make room for another.
  func wasDropped(_ ticket: Ticket) -> Bool { dropped.contains(ticket) }

  mutating func leave(_ ticket: Ticket) {
    vacate(ticket)
    sessions[ticket] = nil
    dropped.remove(ticket)
    answered(ticket)
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
