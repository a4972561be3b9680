internal import Channel
internal import Glibc
internal import System

/// The connections to a port, and the choice of those that must be dropped if there are too many;
/// notes-protocol(7), LIMITS.
///
/// An unauthenticated connection keeps its place until another one needs it. Then the oldest handshake is
/// dropped of the address that has the most; addresses without a recent authenticated connection come first. So
/// silent connections, however many, never keep a member out. An authenticated member's connection is dropped
/// only for another session of the same device.
///
/// Few handshakes are computed at once. The next one is from an address with a recent authenticated connection.
/// If there is none, and no handshake is being computed, it is from the address with the fewest places, so an
/// address that floods the port waits behind the others. Until its turn, a connection uses no resources, not
/// even a thread.
package struct HandshakeAdmission {
  /// The limits for connections.
  package struct Limits: Sendable {
    var handshakes = ProtocolLimits.handshakes
    var handshakesPerAddress = ProtocolLimits.handshakesPerAddress
    var turns = ProtocolLimits.handshakesComputed
    var sessions = ProtocolLimits.sessions
    var sessionsPerAddress = ProtocolLimits.sessionsPerAddress
    var sessionsPerDevice = ProtocolLimits.sessionsPerDevice

    /// The limits of notes-protocol(7).
    package static let standard = Limits()
  }

  /// Identifies a candidate; later ones are greater.
  typealias Ticket = Int

  /// A connection whose handshake is not complete.
  struct Candidate {
    let ticket: Ticket
    let socket: Socket
    let deadline: Instant
    fileprivate let network: String
    fileprivate(set) var stage = Stage.silent

    /// `silent`: the client has sent nothing. `heard`: it has, and waits for its turn. `begun`: a thread
    /// computes the handshake.
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
  /// The dropped candidates whose threads have not noticed it yet.
  private var dropped: Set<Ticket> = []
  private var computing: Set<Ticket> = []
  /// Addresses of authenticated devices, the latest last. Each counts separately from its network.
  private var familiar: [String] = []
  private static let familiarAddresses = 64

  private(set) var begun = 0

  init(limits: Limits = .standard) { self.limits = limits }

  /// The number of connections, including dropped ones that have not ended yet.
  var count: Int { handshakes.count + sessions.count + dropped.count }

  var silent: [Candidate] { handshakes.values.filter { $0.stage == .silent } }

  /// The earliest deadline of the candidates whose computation has not begun; never if there are none.
  var nextDeadline: Instant {
    handshakes.values.lazy.filter { $0.stage != .begun }.map(\.deadline).min() ?? .never
  }

  /// The handshakes of each network, oldest first.
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

  /// Removes and returns the candidates whose handshake no thread computes yet, and whose deadline is at or before
  /// `moment`; all of these candidates if `moment` is nil.
  mutating func dismiss(dueBy moment: Instant?) -> [Candidate] {
    let late = handshakes.values.filter { $0.stage != .begun && $0.deadline <= moment ?? .never }
    for candidate in late { handshakes[candidate.ticket] = nil }
    return late
  }

  /// Ends a handshake; returns false if there would be too many sessions. `holder` names a device in
  /// a notebook: if it has too many sessions, its oldest is dropped.
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

  /// Records that the candidate has sent bytes. Returns the candidate whose handshake may be computed now, if
  /// any.
  mutating func hear(_ ticket: Ticket) -> Candidate? {
    guard handshakes[ticket]?.stage == .silent else { return nil }
    handshakes[ticket]?.stage = .heard
    return nextTurn()
  }

  /// Records that the candidate's computation, if any, has ended. Returns the candidate whose handshake may be
  /// computed now.
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

  /// Records that the candidate has disconnected. Returns the candidate whose handshake may be computed now.
  mutating func leave(_ ticket: Ticket) -> Candidate? {
    handshakes[ticket] = nil
    sessions[ticket] = nil
    dropped.remove(ticket)
    return answered(ticket)
  }

  /// The part of an address that counts as one place: an IPv4 address, a link-local IPv6 address, or the first
  /// 64 bits of another IPv6 address, because anybody can choose the rest (RFC 4291, section 2.5.4).
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
