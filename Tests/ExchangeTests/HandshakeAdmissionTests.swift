import Membership
import Synchronization
import TestSupport
import Testing

@testable import Channel
@testable import Exchange

/// notes-protocol(7), LIMITS: over a limit the oldest handshake is closed; a session over a limit is
/// told bye busy.
@Suite("HandshakeAdmission of a port")
struct HandshakeAdmissionTests {
  private static let few = HandshakeAdmission.Limits(
    handshakes: 3, handshakesPerAddress: 2, sessions: 2, sessionsPerAddress: 1)

  /// HandshakeAdmission whose names are the last parts of their addresses.
  private final class Port {
    var visitors: HandshakeAdmission

    init(_ limits: HandshakeAdmission.Limits) { visitors = HandshakeAdmission(limits: limits) }

    /// The ticket of a new visitor, and the address of who made room.
    func arrive(
      _ host: String, until deadline: Instant = .after(seconds: 180)
    ) throws -> (ticket: HandshakeAdmission.Ticket, dropped: String?) {
      let socket = Socket(
        takingOwnership: try Socket.make(family: Int32(2)),
        peer: Address(host: "10.0.0." + host, port: 1))
      let (ticket, dropped) = visitors.arrive(socket, until: deadline)
      return (ticket, dropped.map { String($0.socket.peer.host.dropFirst(7)) })
    }

    func hear(_ ticket: HandshakeAdmission.Ticket) -> HandshakeAdmission.Ticket? {
      visitors.hear(ticket)?.ticket
    }
    func answered(_ ticket: HandshakeAdmission.Ticket) -> HandshakeAdmission.Ticket? {
      visitors.answered(ticket)?.ticket
    }
    func leave(_ ticket: HandshakeAdmission.Ticket) -> HandshakeAdmission.Ticket? {
      visitors.leave(ticket)?.ticket
    }
    func begin(_ ticket: HandshakeAdmission.Ticket) -> Bool { visitors.begin(ticket).isLetIn }

    /// Lets somebody from there in, who leaves again.
    func welcome(_ host: String) throws {
      let ticket = try arrive(host).ticket
      #expect(hear(ticket) == ticket)
      #expect(begin(ticket) == true)
      _ = leave(ticket)
    }
  }

  @Test("the oldest handshake makes room: first that of the same address")
  func room() throws {
    let port = Port(Self.few)
    let first = try port.arrive("1")
    let second = try port.arrive("2")
    let third = try port.arrive("2")
    #expect([first, second, third].allSatisfy { $0.dropped == nil })
    // A third one from the same address: the oldest of that address goes, not the oldest of all.
    #expect(try port.arrive("2").dropped == "2")
    #expect(port.begin(second.ticket) == false)
    // A third address: the oldest of the one with most of them goes.
    #expect(try port.arrive("3").dropped == "2")
    #expect(port.begin(third.ticket) == false)
    // Each has one: the oldest of all goes.
    #expect(try port.arrive("4").dropped == "1")
    #expect(port.begin(first.ticket) == false)
    #expect(port.visitors.count == 3)
    #expect(port.visitors.dismiss(dueBy: nil).count == 3)
    #expect(port.visitors.count == 0)
  }

  @Test("an address from which somebody was let in lately makes room last")
  func familiarRoom() throws {
    let port = Port(Self.few)
    try port.welcome("1")
    _ = try port.arrive("1")
    for host in 2...4 { _ = try port.arrive("\(host)") }
    // The oldest of all is the one from the familiar address.
    #expect(try port.arrive("5").dropped == "3")
    #expect(try port.arrive("6").dropped == "4")
  }

  @Test("turns go to familiar addresses, then to those with fewest handshakes, one at a time")
  func turns() throws {
    let port = Port(HandshakeAdmission.Limits())
    try port.welcome("1")
    let flood = try (0..<3).map { _ in try port.arrive("2").ticket }
    let stranger = try port.arrive("3").ticket
    let familiar = try (0..<5).map { _ in try port.arrive("1").ticket }
    #expect(port.hear(flood[0]) == flood[0])
    #expect(flood[1...].allSatisfy { port.hear($0) == nil })
    #expect(port.hear(stranger) == nil)
    // Strangers keep no member waiting, but for four that are computed at once.
    #expect(familiar.map { port.hear($0) } == familiar[..<3].map { $0 } + [nil, nil])
    #expect(port.answered(flood[0]) == familiar[3])
    #expect(port.answered(familiar[0]) == familiar[4])
    // Strangers have none while a member has one.
    #expect(familiar[1...3].allSatisfy { port.answered($0) == nil })
    #expect(port.answered(familiar[4]) == stranger)
    // What ended its turn does not end another's.
    #expect(port.answered(familiar[4]) == nil)
    // One that goes without ever having been answered ends its turn too.
    #expect(port.leave(stranger) == flood[1])
    #expect(port.answered(flood[1]) == flood[2])
    #expect(port.visitors.begun == 10)
  }

  @Test("who waits for a turn too long, or makes room, has cost nothing")
  func waiting() throws {
    let port = Port(Self.few)
    let first = try port.arrive("1").ticket
    #expect(port.hear(first) == first)
    let second = try port.arrive("2", until: .after(seconds: 0)).ticket
    #expect(port.hear(second) == nil)
    _ = try port.arrive("3", until: .after(seconds: 0))
    #expect(port.visitors.silent.count == 1)
    #expect(port.visitors.nextDeadline < .after(seconds: 0.001))
    #expect(port.visitors.dismiss(dueBy: .after(seconds: 0)).count == 2)
    #expect(port.visitors.nextDeadline == .never)
    #expect(port.answered(first) == nil)
    // Of whom a thread has been started, the place is given away, and the thread notices.
    for _ in 0..<3 { _ = try port.arrive("1") }
    #expect(port.visitors.wasDropped(first))
    #expect(port.leave(first) == nil && !port.visitors.wasDropped(first))
    #expect(port.visitors.begun == 1)
  }

  @Test("who has been let in is never dropped, and too many are not let in")
  func sessions() throws {
    let port = Port(Self.few)
    let member = try port.arrive("1").ticket
    #expect(port.begin(member) == true)
    for _ in 0..<10 { _ = try port.arrive("1") }
    #expect(!port.visitors.wasDropped(member))
    let neighbour = try port.arrive("1").ticket
    #expect(port.begin(neighbour) == false, "a second session with that address")
    let other = try port.arrive("2").ticket
    #expect(port.begin(other) == true)
    let third = try port.arrive("3").ticket
    #expect(port.begin(third) == false, "a third session")
    _ = port.leave(other)
    #expect(port.begin(third) == true)
  }

  // notes-protocol(7), LIMITS: "An address that had a session lately counts separately, whatever its network."
  @Test("a member and a flood of one IPv6 network do not share places")
  func sameNetwork() throws {
    var visitors = HandshakeAdmission(limits: Self.few)
    func arrive(_ host: String) throws -> (ticket: HandshakeAdmission.Ticket, dropped: String?) {
      let socket = Socket(
        takingOwnership: try Socket.make(family: Int32(2)), peer: Address(host: host, port: 1))
      let (ticket, dropped) = visitors.arrive(socket, until: .after(seconds: 180))
      return (ticket, dropped?.socket.peer.host)
    }
    let member = try arrive("2001:db8::1").ticket
    _ = visitors.hear(member)
    let isIn = visitors.begin(member).isLetIn
    #expect(isIn)
    _ = visitors.leave(member)
    // Two places for the network: the flood takes them, and the member has its own.
    #expect(try arrive("2001:db8::2").dropped == nil && arrive("2001:db8::3").dropped == nil)
    #expect(try arrive("2001:db8::1").dropped == nil)
    #expect(try arrive("2001:db8::4").dropped == "2001:db8::2")
    // Two members of one network hold a session each, where one an address is allowed.
    for host in ["2001:db8::5", "2001:db8::6"] {
      let ticket = try arrive(host).ticket
      _ = visitors.hear(ticket)
      let isIn = visitors.begin(ticket).isLetIn
      #expect(isIn)
    }
  }

  /// "If a device has too many sessions, its oldest session is closed".
  @Test("a device at many addresses holds four sessions of a notebook, and others are let in")
  func device() throws {
    let port = Port(HandshakeAdmission.Limits())
    var dropped = 0
    for number in 0..<200 {
      let begun = port.visitors.begin(try port.arrive("\(number % 4)").ticket, for: "a reader")
      #expect(begun.isLetIn)
      if begun.dropped != nil { dropped += 1 }
    }
    #expect(dropped == 200 - ProtocolLimits.sessionsPerDevice)
    for number in 0..<60 {
      let ticket = try port.arrive("\(number)").ticket
      #expect(port.visitors.begin(ticket, for: "member \(number)").isLetIn)
    }
    #expect(port.visitors.begin(try port.arrive("99").ticket, for: "another").isLetIn == false)
    #expect(port.visitors.begin(try port.arrive("99").ticket, for: "a reader").isLetIn)
  }

  @Test("of an IPv6 address the first 64 bits count, unless it is link-local")
  func networks() {
    #expect(HandshakeAdmission.network(of: "192.0.2.1") == "192.0.2.1")
    let one = HandshakeAdmission.network(of: "2001:db8::1")
    #expect(one == HandshakeAdmission.network(of: "2001:db8::ffff:1"))
    #expect(one != HandshakeAdmission.network(of: "2001:db8:0:1::1"))
    #expect(
      HandshakeAdmission.network(of: "fe80::1%eth0")
        != HandshakeAdmission.network(of: "fe80::2%eth0"))
    #expect(HandshakeAdmission.network(of: "fe80::1") != HandshakeAdmission.network(of: "fe80::2"))
  }

  /// notes-protocol(7), LIMITS: "A device does not answer a silent connection either, which costs no more than
  /// a descriptor".
  @Test("for silent connections no handshake is begun, and a member is served beside them")
  func silence() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let token = try CancellationToken()
    let credentials = try ada.context.credentials()
    let refusals = EventLog<String>()
    let reception = Acceptor(
      listener: listener, timeouts: .forTests, cancellation: token,
      credentials: { _ in credentials },
      welcome: { connection, _ in _ = try? connection.receive(deadline: .after(seconds: 80)) },
      refuse: { refusals.append("\($0.error)") })
    try Exchange.startThread { reception.run() }
    defer { token.cancel() }
    let address = Address(host: "127.0.0.1", port: listener.port)
    let target = try #require(
      try SocketAddress.resolve(address, deadline: .never, cancellation: nil).first)
    func call() throws -> Socket {
      try Socket.connect(to: target, deadline: .after(seconds: 40), cancellation: nil)
    }
    let silent = try (0..<200).map { _ in try call() }
    let first = try Connection.connect(
      to: [address], as: bob.context.credentials(), deadline: .after(seconds: 40))
    // Places are given to those who come; who had to make room was told nothing.
    #expect(refusals.next()?.contains("handshakes at once") == true)
    #expect(reception.admission.withLock { $0.begun } == 1)
    // One that goes away again costs nothing either.
    do { _ = try call() }
    let second = try Connection.connect(
      to: [address], as: bob.context.credentials(), deadline: .after(seconds: 40))
    #expect(reception.admission.withLock { $0.begun } == 2)
    first.close()
    second.close()
    withExtendedLifetime(silent) {}
  }

  @Test("one session too many is told that the device is busy")
  func busy() throws {
    let ada = try Device(founding: "Ada")
    let bob = try Device("Bob", certifiedBy: ada)
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let token = try CancellationToken()
    let refusals = EventLog<String>()
    let arrivals = EventLog<Bool>()
    let credentials = try ada.context.credentials()
    let reception = Acceptor(
      listener: listener, timeouts: .forTests, cancellation: token,
      limits: Self.few, credentials: { _ in credentials },
      welcome: { connection, _ in
        arrivals.append(true)
        _ = try? connection.receive(deadline: .after(seconds: 80))
      }, refuse: { refusals.append("\($0.error)") })
    try Exchange.startThread { reception.run() }
    defer { token.cancel() }
    func connect() throws -> Connection {
      try Connection.connect(
        to: [Address(host: "127.0.0.1", port: listener.port)], as: bob.context.credentials(),
        deadline: .after(seconds: 40))
    }
    let first = try connect()
    #expect(arrivals.next() != nil)
    let second = MessageStream(connection: try connect(), timeouts: .forTests)
    #expect { _ = try second.receive() } throws: { error in
      if case SyncError.peerEnded(.busy, _) = error { true } else { false }
    }
    #expect(refusals.next()?.contains("sessions at once") == true)
    first.close()
  }
}
