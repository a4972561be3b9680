internal import Channel
internal import Glibc
internal import System

/// The connections to a port, and those that must go when there are too many; notes-protocol(7), LIMITS.
///
/// Whoever has not yet proved who they are holds a place for as long as nobody else needs it: the
/// oldest handshake of the address that has most of them is dropped for a new one, and that of an
/// address from which nobody was let in lately before that of another. So silence, however often it
/// connects, keeps no member out, and a member who has been let in is dropped only for another session
/// of the same device.
///
/// Few handshakes are computed at once. The next is one from an address of which a device was let in
/// lately, or else, when none is being computed, from the one with fewest places: who floods a port
/// waits behind who does not. Nothing is spent on anybody before that, not even a thread.
package struct HandshakeAdmission {
  /// How many may be there.
  package struct Limits: Sendable {
    var handshakes = ProtocolLimits.handshakes
    var handshakesPerAddress = ProtocolLimits.handshakesPerAddress
    var turns = ProtocolLimits.handshakesComputed
    var sessions = ProtocolLimits.sessions
    var sessionsPerAddress = ProtocolLimits.sessionsPerAddress
    var sessionsPerDevice = ProtocolLimits.sessionsPerDevice

    /// Those of notes-protocol(7).
    package static let standard = Limits()
  }

  /// Names a candidate; later ones are greater.
  typealias Ticket = Int

  /// One whose handshake has not succeeded yet.
  struct Candidate {
    let ticket: Ticket
    let socket: Socket
    let deadline: Instant
    fileprivate let network: String
    fileprivate(set) var stage = Stage.silent

    /// Computing begins with a thread of its own, which stays until the end.
    enum Stage { case silent, heard, begun }
  }

  private struct Session {
    let address: String
    let holder: String?
    let socket: Socket
  }

  private let limits: Limits
  private var next = 0
  private var handshakes: [Ticket: Candidate] = [:]
  private var sessions: [Ticket: Session] = [:]
  /// Those who had to make room, and whose threads do not know it yet.
  private var dropped: Set<Ticket> = []
  private var computing: Set<Ticket> = []
  /// Addresses of devices that were let in, the latest last: each has places of its own, not those of
  /// its network.
  private var familiar: [String] = []
  private static let familiarAddresses = 64

  private(set) var begun = 0

  init(limits: Limits = .standard) { self.limits = limits }

  /// How many there are, those included that were dropped and have not gone yet.
  var count: Int { handshakes.count + sessions.count + dropped.count }

  var silent: [Candidate] { handshakes.values.filter { $0.stage == .silent } }

  /// When the first of those on whom nothing is spent yet has waited too long.
  var nextDeadline: Instant {
    handshakes.values.lazy.filter { $0.stage != .begun }.map(\.deadline).min() ?? .never
  }

  /// The handshakes of each network that has any, the oldest first.
  private var places: [String: [Ticket]] {
    Dictionary(grouping: handshakes.values, by: \.network).mapValues { $0.map(\.ticket).sorted() }
  }

  mutating func arrive(_ socket: Socket, until deadline: Instant) -> (
    ticket: Ticket, dropped: Candidate?
  ) {
    let host = socket.peer.host
    let network = familiar.contains(host) ? host : Self.network(of: host)
    let places = places
    var oldest: Ticket?
    if let own = places[network], own.count >= limits.handshakesPerAddress {
      oldest = own[0]
    } else if handshakes.count >= limits.handshakes {
      func rank(_ place: (key: String, value: [Ticket])) -> (Int, Int, Ticket) {
        (familiar.contains(place.key) ? 1 : 0, -place.value.count, place.value[0])
      }
      oldest = places.min { rank($0) < rank($1) }?.value[0]
    }
    let candidate = oldest.flatMap { handshakes.removeValue(forKey: $0) }
    if let candidate, candidate.stage == .begun { dropped.insert(candidate.ticket) }
    next += 1
    handshakes[next] = Candidate(ticket: next, socket: socket, deadline: deadline, network: network)
    return (next, candidate)
  }

  /// Those on whom nothing is spent yet and who have waited until `moment`, all of them for nil. They
  /// are candidates no more.
  mutating func dismiss(waitingSince moment: Instant?) -> [Candidate] {
    let late = handshakes.values.filter { $0.stage != .begun && $0.deadline <= moment ?? .never }
    for candidate in late { handshakes[candidate.ticket] = nil }
    return late
  }

  /// The handshake is over; not let in is who would be one session too many. `holder` names a device
  /// in a notebook: where it has too many, its oldest is dropped.
  mutating func begin(
    _ ticket: Ticket, for holder: String? = nil
  ) -> (isLetIn: Bool, dropped: Socket?) {
    guard let candidate = handshakes[ticket] else { return (false, nil) }
    let own = sessions.filter { holder != nil && $0.value.holder == holder }.keys.sorted()
    let oldest = own.count < limits.sessionsPerDevice ? nil : own.first
    let others = sessions.filter { $0.key != oldest }
    let host = candidate.socket.peer.host
    guard others.count < limits.sessions,
      others.values.count(where: { $0.address == host }) < limits.sessionsPerAddress
    else { return (false, nil) }
    let dropped = oldest.flatMap { sessions[$0]?.socket }
    if let oldest { self.dropped.insert(oldest) }
    sessions = others
    handshakes[ticket] = nil
    sessions[ticket] = Session(address: host, holder: holder, socket: candidate.socket)
    familiar.removeAll { $0 == host }
    familiar.append(host)
    if familiar.count > Self.familiarAddresses { familiar.removeFirst() }
    return (true, dropped)
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
    let heard = handshakes.values.filter { $0.stage == .heard }
    let places = heard.isEmpty ? [:] : places
    func rank(_ candidate: Candidate) -> (Int, Int, Ticket) {
      (
        familiar.contains(candidate.network) ? 0 : 1, places[candidate.network]?.count ?? 0,
        candidate.ticket
      )
    }
    guard let next = heard.min(by: { rank($0) < rank($1) }),
      computing.isEmpty || familiar.contains(next.network)
    else { return nil }
    handshakes[next.ticket]?.stage = .begun
    computing.insert(next.ticket)
    begun += 1
    return next
  }

  func wasDropped(_ ticket: Ticket) -> Bool { dropped.contains(ticket) }

  /// The candidate has gone. Returns whose handshake may be computed now.
  mutating func leave(_ ticket: Ticket) -> Candidate? {
    handshakes[ticket] = nil
    sessions[ticket] = nil
    dropped.remove(ticket)
    return answered(ticket)
  }

  /// The part of an address that counts as one: an IPv4 address, a link-local IPv6 one, and of the others
  /// the first 64 bits, since anybody can choose the rest (RFC 4291, section 2.5.4).
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
