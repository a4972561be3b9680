import Membership
import TestSupport
import Testing

@testable import Channel
@testable import Sync

/// notes-protocol(7), LIMITS: over a limit the oldest handshake is closed; a session over a limit is
/// told bye busy.
@Suite("Visitors of a port")
struct VisitorsTests {
  private static let few = Visitors.Limits(
    handshakes: 3, handshakesPerAddress: 2, sessions: 2, sessionsPerAddress: 1)

  private func visitor(_ host: String) throws -> Socket {
    Socket(
      takingOwnership: try Socket.make(family: Int32(2)), peer: Address(host: host, port: 1))
  }

  @Test("the oldest handshake makes room: first that of the same address")
  func room() throws {
    var visitors = Visitors(limits: Self.few)
    func begin(_ ticket: Visitors.Ticket) -> Bool { visitors.begin(ticket) }
    let first = visitors.arrive(try visitor("10.0.0.1"))
    let second = visitors.arrive(try visitor("10.0.0.2"))
    let third = visitors.arrive(try visitor("10.0.0.2"))
    #expect(first.dropped == nil && second.dropped == nil && third.dropped == nil)
    // A third one from the same address: the oldest of that address goes, not the oldest of all.
    let fourth = visitors.arrive(try visitor("10.0.0.2"))
    #expect(visitors.wasDropped(second.ticket) && !visitors.wasDropped(first.ticket))
    #expect(fourth.dropped?.peer.host == "10.0.0.2")
    // A third address: the oldest of the one with most of them goes.
    let fifth = visitors.arrive(try visitor("10.0.0.3"))
    #expect(visitors.wasDropped(third.ticket) && !visitors.wasDropped(first.ticket))
    #expect(fifth.dropped?.peer.host == "10.0.0.2")
    // Each has one: the oldest of all goes.
    let sixth = visitors.arrive(try visitor("10.0.0.4"))
    #expect(visitors.wasDropped(first.ticket))
    #expect(sixth.dropped?.peer.host == "10.0.0.1")
    #expect(begin(first.ticket) == false)
    for ticket in [first, second, third, fourth, fifth, sixth].map(\.ticket) {
      visitors.leave(ticket)
    }
    #expect(visitors.count == 0)
  }

  @Test("turns go to familiar addresses, then to those with fewest handshakes")
  func turns() throws {
    var limits = Visitors.Limits()
    limits.turns = 1
    var visitors = Visitors(limits: limits)
    func arrive(_ host: String) throws -> Visitors.Ticket {
      visitors.arrive(try visitor(host)).ticket
    }
    let member = try arrive("10.0.0.1")
    #expect(visitors.ask(member) == nil)
    _ = visitors.begin(member)
    let flood = try (0..<3).map { _ in try arrive("10.0.0.2") }
    let (stranger, familiar) = (try arrive("10.0.0.3"), try arrive("10.0.0.1"))
    let order = flood + [stranger, familiar]
    let turns = order.map { visitors.ask($0) }
    func isNext(_ expected: Visitors.Ticket, after ended: Visitors.Ticket) -> Bool {
      visitors.answered(ended)
      return turns[order.firstIndex(of: expected) ?? 0]?.take(until: .now) == true
    }
    #expect(isNext(familiar, after: member))
    #expect(isNext(stranger, after: familiar))
    // One that goes without ever having been answered ends its turn too.
    visitors.leave(stranger)
    #expect(turns[0]?.take(until: .now) == true)
    #expect(isNext(flood[1], after: flood[0]))
    #expect(isNext(flood[2], after: flood[1]))
    // A handshake that is dropped does not wait.
    _ = visitors.arrive(try visitor("10.0.0.9"))
  }

  @Test("who has been let in is never dropped, and too many are not let in")
  func sessions() throws {
    var visitors = Visitors(limits: Self.few)
    func begin(_ ticket: Visitors.Ticket) -> Bool { visitors.begin(ticket) }
    let member = visitors.arrive(try visitor("10.0.0.1")).ticket
    #expect(begin(member) == true)
    for _ in 0..<10 { _ = visitors.arrive(try visitor("10.0.0.1")) }
    #expect(!visitors.wasDropped(member))
    let neighbour = visitors.arrive(try visitor("10.0.0.1")).ticket
    #expect(begin(neighbour) == false, "a second session with that address")
    let other = visitors.arrive(try visitor("10.0.0.2")).ticket
    #expect(begin(other) == true)
    let third = visitors.arrive(try visitor("10.0.0.3")).ticket
    #expect(begin(third) == false, "a third session")
    visitors.leave(other)
    #expect(begin(third) == true)
  }

  @Test("of an IPv6 address the first 64 bits count, unless it is link-local")
  func networks() {
    #expect(Visitors.network(of: "192.0.2.1") == "192.0.2.1")
    let one = Visitors.network(of: "2001:db8::1")
    #expect(one == Visitors.network(of: "2001:db8::ffff:1"))
    #expect(one != Visitors.network(of: "2001:db8:0:1::1"))
    #expect(Visitors.network(of: "fe80::1%eth0") != Visitors.network(of: "fe80::2%eth0"))
    #expect(Visitors.network(of: "fe80::1") != Visitors.network(of: "fe80::2"))
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
    let reception = Reception(
      listener: listener, timeouts: .forTests, cancellation: token,
      rules: Reception.Rules(
        credentials: { _ in credentials },
        welcome: { connection, _ in
          arrivals.append(true)
          _ = try? connection.receive(deadline: .after(seconds: 20))
        }, refuse: { refusals.append("\($0.error)") }), limits: Self.few)
    try Sync.startThread { reception.run() }
    defer { token.cancel() }
    func connect() throws -> Connection {
      try Connection.connect(
        to: [Address(host: "127.0.0.1", port: listener.port)], as: bob.context.credentials(),
        deadline: .after(seconds: 10))
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
