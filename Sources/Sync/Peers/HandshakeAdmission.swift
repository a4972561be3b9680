internal import Channel
internal import Glibc
internal import System

/// Who is connected to a port, and who has to go when there are too many; notes-protocol(7), LIMITS.
///
/// Whoever has not yet proved who they are holds a place for as long as nobody else needs it: the
/// oldest handshake of the address that has most of them is dropped for a new one, and that of an
/// address from which nobody was let in lately before that of another. So silence, however often it
/// connects, keeps no member out, and a member who has been let in is never dropped.
///
/// Few handshakes are computed at once. The next is one from an address of which a device was let in
/// lately, or else, when none is being computed, from the one with fewest places: who floods a port
/// waits behind who does not. Nothing is spent on anybody before that, not even a thread.
struct HandshakeAdmission {
  /// How many may be there.
  struct Limits {
    var handshakes = ProtocolLimits.handshakes
    var handshakesPerAddress = ProtocolLimits.handshakesPerAddress
    var turns = ProtocolLimits.handshakesComputed
    var sessions = ProtocolLimits.sessions
    var sessionsPerAddress = ProtocolLimits.sessionsPerAddress
  }

  /// Names a candidate; later ones are greater.
  typealias Ticket = Int

  /// One whose handshake has not succeeded yet.
  struct Candidate {
    let ticket: Ticket
    let socket: Socket
    /// When the handshake has to be over.
    let deadline: Instant
    fileprivate let network: String
    fileprivate(set) var stage = Stage.silent

    /// Computing begins with a thread of its own, which stays until the end.
    enum Stage { case silent, heard, begun }
  }

  private let limits: Limits
  private var next = 0
  private var handshakes: [Ticket: Candidate] = [:]
  /// The handshakes of each network that has any, the oldest first.
  private var places: [String: [Ticket]] = [:]
  private var sessions: [Ticket: String] = [:]
  /// Those who had to make room, and whose threads do not know it yet.
  private var dropped: Set<Ticket> = []
  /// Handshakes that are being computed.
  private var computing: Set<Ticket> = []
  /// Networks of devices that were let in, the latest last.
  private var familiar: [String] = []
  private var isFamiliar: Set<String> = []
  private static let familiarNetworks = 64

  /// How many handshakes were begun to be computed.
  private(set) var begun = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// How many there are, those included that were dropped and have not gone yet.
  var count: Int { handshakes.count + sessions.count + dropped.count }

  /// Those who have not said anything yet.
  var silent: [Candidate] { handshakes.values.filter { $0.stage == .silent } }

  /// When the first of those on whom nothing is spent yet has waited too long.
  var nextDeadline: Instant {
    handshakes.values.lazy.filter { $0.stage != .begun }.map(\.deadline).min() ?? .never
  }

  /// A new connection, and the one that has to make room for it.
  mutating func arrive(_ socket: Socket, until deadline: Instant) -> (
    ticket: Ticket, dropped: Candidate?
  ) {
    let network = Self.network(of: socket.peer.host)
    var crowded: String?
    if places[network, default: []].count >= limits.handshakesPerAddress {
      crowded = network
    } else if handshakes.count >= limits.handshakes {
      func rank(_ place: (key: String, value: [Ticket])) -> (Int, Int, Ticket) {
        (isFamiliar.contains(place.key) ? 1 : 0, -place.value.count, place.value[0])
      }
      crowded = places.min { rank($0) < rank($1) }?.key
    }
    let candidate = crowded.flatMap { places[$0]?.first }.flatMap { vacate($0) }
    if let candidate, candidate.stage == .begun { dropped.insert(candidate.ticket) }
    next += 1
    handshakes[next] = Candidate(ticket: next, socket: socket, deadline: deadline, network: network)
    places[network, default: []].append(next)
    return (next, candidate)
  }

  /// Gives up the place of a handshake.
  @discardableResult
  private mutating func vacate(_ ticket: Ticket) -> Candidate? {
    guard let candidate = handshakes.removeValue(forKey: ticket) else { return nil }
    places[candidate.network]?.removeAll { $0 == ticket }
    if places[candidate.network]?.isEmpty == true { places[candidate.network] = nil }
    return candidate
  }

  /// Those on whom nothing is spent yet and who have waited until `moment`, all of them for nil. They
  /// are candidates no more.
  mutating func dismiss(waitingSince moment: Instant?) -> [Candidate] {
    let late = handshakes.values.filter { candidate in
      candidate.stage != .begun && moment.map { candidate.deadline <= $0 } ?? true
    }
    for candidate in late { vacate(candidate.ticket) }
    return late
  }

  /// The handshake is over; false when there are too many sessions for another.
  mutating func begin(_ ticket: Ticket) -> Bool {
    guard let candidate = handshakes[ticket],
      sessions.count < limits.sessions,
      sessions.values.count(where: { $0 == candidate.network }) < limits.sessionsPerAddress
    else { return false }
    vacate(ticket)
    sessions[ticket] = candidate.network
    if isFamiliar.insert(candidate.network).inserted {
      if familiar.count >= Self.familiarNetworks { isFamiliar.remove(familiar.removeFirst()) }
    } else {
      familiar.removeAll { $0 == candidate.network }
    }
    familiar.append(candidate.network)
    return true
  }

  /// The candidate has said something. Returns whose handshake may be computed now, if there is one.
  mutating func hear(_ ticket: Ticket) -> Candidate? {
    guard handshakes[ticket]?.stage == .silent else { return nil }
    handshakes[ticket]?.stage = .heard
    return nextTurn()
  }

  /// Ends a turn, if the candidate had one. Returns whose handshake may be computed now.
  mutating func answered(_ ticket: Ticket) -> Candidate? {
    computing.remove(ticket) == nil ? nil : nextTurn()
  }

  private mutating func nextTurn() -> Candidate? {
    guard computing.count < limits.turns else { return nil }
    func rank(_ candidate: Candidate) -> (Int, Int, Ticket) {
      (
        isFamiliar.contains(candidate.network) ? 0 : 1, places[candidate.network]?.count ?? 0,
        candidate.ticket
      )
    }
    let next = handshakes.values.lazy.filter { $0.stage == .heard }
      .min { rank($0) < rank($1) }
    guard let next, computing.isEmpty || isFamiliar.contains(next.network) else { return nil }
    handshakes[next.ticket]?.stage = .begun
    computing.insert(next.ticket)
    begun += 1
    return next
  }

  /// Whether the candidate had to make room for another.
  func wasDropped(_ ticket: Ticket) -> Bool { dropped.contains(ticket) }

  /// The candidate has gone. Returns whose handshake may be computed now.
  mutating func leave(_ ticket: Ticket) -> Candidate? {
    vacate(ticket)
    sessions[ticket] = nil
    dropped.remove(ticket)
    return answered(ticket)
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
