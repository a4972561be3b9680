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
    // A fourth address: the oldest of all goes.
    let fifth = visitors.arrive(try visitor("10.0.0.3"))
    #expect(visitors.wasDropped(first.ticket))
    #expect(fifth.dropped?.peer.host == "10.0.0.1")
    #expect(begin(first.ticket) == false)
    for ticket in [first, second, third, fourth, fifth].map(\.ticket) { visitors.leave(ticket) }
    #expect(visitors.count == 0)
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
