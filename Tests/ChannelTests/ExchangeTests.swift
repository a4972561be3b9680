internal import Glibc
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

// notes-protocol(7), "Frames", and notes-security(7), "Limits".
@Suite("Channel: exchange", .timeLimit(.minutes(20)))
struct ExchangeTests {
  /// A client of a server that runs `body`; both are the founder's device.
  func connect(_ body: @escaping @Sendable (Connection) throws -> Void) throws -> (
    client: Connection, server: Server, cancellation: CancellationToken
  ) {
    let party = try Party()
    let server = try Server(party.offer()) { connection in
      try body(connection)
      withExtendedLifetime(party) {}
    }
    let cancellation = try CancellationToken()
    let client = try Connection.connect(
      to: [server.address], as: party.credentials(party.founder), deadline: .after(seconds: soon),
      cancellation: cancellation)
    return (client, server, cancellation)
  }

  /// Exchanges until `isOver`, when all is sent. The other end may have closed by then.
  static func exchange(
    on connection: Connection, wakeup: WakeUp? = nil, until isOver: () -> Bool,
    produce: () throws -> Frame?, consume: (Frame) throws -> Void
  ) throws {
    do {
      try connection.exchange(
        until: { isOver() && connection.isFlushed ? .now : .after(seconds: soon) },
        wakeup: wakeup ?? WakeUp(), produce: produce, consume: consume)
    } catch ChannelError.closedByPeer where isOver() {}
    #expect(isOver(), "nothing came")
  }

  /// Sends `count` data frames and an end, and takes the other's; the sum of what came.
  static func trade(_ connection: Connection, count: Int, seed: UInt8) throws -> (Int, UInt64) {
    var produced = 0
    var received = 0
    var sum: UInt64 = 0
    var isOver = false
    try exchange(
      on: connection, until: { isOver && produced > count },
      produce: {
        produced += 1
        if produced <= count {
          let fill = seed &+ UInt8(truncatingIfNeeded: produced)
          return Frame(type: 0x80, payload: [UInt8](repeating: fill, count: Frame.maximumData))
        }
        return produced == count + 1 ? Frame(type: 2, payload: []) : nil
      },
      consume: { frame in
        isOver = frame.type == 2
        received += frame.payload.count
        sum += UInt64(frame.payload.first ?? 0)
      })
    return (received, sum)
  }

  @Test("Both ends send 16 MiB at once, and neither waits for the other")
  func duplex() throws {
    let count = 64
    func expected(_ seed: UInt8) -> UInt64 {
      (1...count).reduce(0) { $0 + UInt64(seed &+ UInt8($1)) }
    }
    let forClient = expected(3)
    let forServer = expected(100)
    let (client, server, _) = try connect { connection in
      let (received, sum) = try Self.trade(connection, count: count, seed: 3)
      #expect(received == count * Frame.maximumData && sum == forServer)
    }
    let (received, sum) = try Self.trade(client, count: count, seed: 100)
    #expect(received == count * Frame.maximumData && sum == forClient)
    #expect(client.bytesSent == client.bytesReceived)
    #expect(client.bytesSent == UInt64(count * (Frame.maximumData + 5) + 5))
    client.close()
    #expect(try server.result() == nil)
  }

  @Test("Two messages of the greatest size cross each other")
  func crossing() throws {
    let large = Frame(type: 1, payload: [UInt8](repeating: 7, count: Frame.maximumMessage))
    let (client, server, _) = try connect { connection in
      try connection.send(large, deadline: .after(seconds: soon))
      #expect(try connection.receive(deadline: .after(seconds: soon)) == large)
    }
    try client.send(large, deadline: .after(seconds: soon))
    #expect(try client.receive(deadline: .after(seconds: soon)) == large)
    client.close()
    #expect(try server.result() == nil)
  }

  @Test("An exchange that stands still ends at its deadline")
  func idle() throws {
    let (client, server, _) = try connect { connection in
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    let start = Moment.now
    let end = Instant.now + 0.3
    try client.exchange(until: { end }, wakeup: WakeUp(), produce: { nil }, consume: { _ in })
    #expect((0.3..<5).contains(Moment.now - start))
    client.close()
    #expect(try server.result() == .closedByPeer)
  }

  @Test("A peer that takes nothing is sent no more than what is on its way")
  func stalledPeer() throws {
    let (client, server, _) = try connect { connection in
      // Holds the connection without reading.
      _ = failure {
        try Wait.until(
          connection.socket.descriptor, [], deadline: .after(seconds: 2), phase: .receiving,
          cancellation: nil)
      }
    }
    var produced = 0
    let end = Instant.now + 0.5
    try client.exchange(
      until: { end }, wakeup: WakeUp(),
      produce: {
        produced += 1
        return Frame(type: 0x80, payload: [UInt8](repeating: 1, count: Frame.maximumData))
      }, consume: { _ in })
    // What the kernel's buffers take, and no more than one frame ahead.
    #expect(produced < 100)
    #expect(client.pending < 2 * Frame.maximumData)
    client.close(deadline: .after(seconds: 0))
    #expect(try server.result() == nil)
  }

  @Test("Cancelling ends a wait at once")
  func cancelling() throws {
    let (client, server, cancellation) = try connect { connection in
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    let start = Moment.now
    startThread { cancellation.cancel() }
    #expect(failure { _ = try client.receive(deadline: .never) } == .cancelled)
    #expect(failure { try client.send(hello, deadline: .never) } == .cancelled)
    #expect(Moment.now - start < 5)
    client.close()
    #expect(try server.result() == .closedByPeer || server.result() == nil)
  }

  @Test("A wake-up from another thread makes a quiet exchange ask for frames")
  func wakingUp() throws {
    let (client, server, _) = try connect { connection in
      #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
      try connection.send(hello, deadline: .after(seconds: soon))
    }
    let wakeup = try WakeUp()
    var asked = 0
    var isOver = false
    try Self.exchange(
      on: client, wakeup: wakeup, until: { isOver },
      produce: {
        asked += 1
        if asked == 1 { startThread { wakeup.signal() } }
        return asked == 2 ? hello : nil
      }, consume: { isOver = $0 == hello })
    #expect(asked >= 2)
    client.close()
    #expect(try server.result() == nil)
  }

  @Test("A clean end is told apart from a broken connection")
  func endings() throws {
    let (first, firstServer, _) = try connect { _ in }
    #expect(failure { _ = try first.receive(deadline: .after(seconds: soon)) } == .closedByPeer)
    first.close()
    #expect(try firstServer.result() == nil)

    let (second, secondServer, _) = try connect { connection in
      shutdown(connection.socket.descriptor, Int32(SHUT_WR))
    }
    #expect(failure { _ = try second.receive(deadline: .after(seconds: soon)) } == .connectionLost)
    second.close()
    #expect(try secondServer.result() == nil)
  }

  @Test("What was sent last arrives, even where the other end never reads and closes")
  func lastWords() throws {
    for _ in 0..<20 {
      let (client, server, _) = try connect { connection in
        try connection.send(hello, deadline: .after(seconds: soon))
      }
      // Unread at the server when it closes.
      try client.send(
        Frame(type: 1, payload: [UInt8](repeating: 1, count: 100_000)),
        deadline: .after(seconds: soon))
      #expect(try client.receive(deadline: .after(seconds: soon)) == hello)
      client.close()
      #expect(try server.result() == nil)
    }
  }

  @Test("A frame over the limit of its type is refused before it is taken in")
  func oversize() throws {
    let (client, server, _) = try connect { connection in
      // Past our own check: the length says 2 GiB.
      connection.outgoing += [0x7F, 0xFF, 0xFF, 0xFF, 1]
      while !connection.isFlushed {
        try connection.step(deadline: .after(seconds: soon), phase: .sending)
      }
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    let error = failure { _ = try client.receive(deadline: .after(seconds: soon)) }
    #expect(error == .frameTooLarge(type: nil, length: 0x7FFF_FFFE, limit: Frame.maximumMessage))
    client.close()
    #expect(try server.result() == .closedByPeer)
  }
}
