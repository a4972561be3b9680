internal import Glibc
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

@Suite("Channel: addresses", .timeLimit(.minutes(20)))
struct AddressTests {
  @Test(
    "HOST:PORT, with brackets around IPv6",
    arguments: [
      ("desk.local:4711", "desk.local", 4711), ("10.0.0.7:1", "10.0.0.7", 1),
      ("[::1]:65535", "::1", 65535), ("[fe80::1%eth0]:4711", "fe80::1%eth0", 4711),
      ("*:0", "*", 0), ("müller.local:80", "müller.local", 80),
    ] as [(String, String, UInt16)])
  func accepted(text: String, host: String, port: UInt16) throws {
    let address = try #require(Address(parsing: text))
    #expect(address.host == host && address.port == port)
    #expect(address.description == text)
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "", "desk", "desk:", ":4711", "desk:65536", "desk:-1", "desk:+1", "desk: 1", "desk:000001",
      "::1:4711", "[::1]", "[::1]4711", "[::1]:", "[desk]:1", "[]:1", "a b:1", "a\u{1B}:1", "a/b:1",
      "desk:47 11", "desk:٤٧",
    ])
  func refused(text: String) {
    #expect(Address(parsing: text) == nil)
  }

  @Test("A listener on all addresses serves IPv4 and IPv6")
  func dualStack() throws {
    let listener = try Listener()
    #expect(listener.port != 0)
    for host in ["127.0.0.1", "::1"] {
      let target = try #require(
        try SocketAddress.resolve(
          Address(host: host, port: listener.port), deadline: .never, cancellation: nil
        ).first)
      let client = try Socket.connect(
        to: target, deadline: .after(seconds: soon), cancellation: nil)
      let accepted = try listener.accept(deadline: .after(seconds: soon))
      #expect(accepted.peer.host == host)
      #expect(client.peer == Address(host: host, port: listener.port))
    }
  }

  @Test("A port in use is said to be")
  func portInUse() throws {
    let first = try Listener(at: Address(host: "127.0.0.1", port: 0))
    #expect(throws: ChannelError.portInUse(first.address)) { try Listener(at: first.address) }
    let everywhere = Address(host: "*", port: first.port)
    #expect(throws: ChannelError.self) { try Listener(at: everywhere) }
    let elsewhere = Address(host: "192.0.2.1", port: 0)
    #expect(throws: ChannelError.addressUnavailable(elsewhere, code: EADDRNOTAVAIL)) {
      try Listener(at: elsewhere)
    }
  }

  @Test("Waiting for a connection ends at its deadline and when cancelled")
  func acceptEnds() throws {
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let cancellation = try CancellationToken()
    let call = try listener.wait(
      orFor: [], deadline: .after(seconds: 0.05), cancellation: cancellation)
    #expect(!call.isCalled && call.heard.isEmpty)
    startThread { cancellation.cancel() }
    #expect(throws: ChannelError.cancelled) {
      try listener.wait(orFor: [], deadline: .never, cancellation: cancellation)
    }
    #expect(cancellation.isCancelled)
  }

  @Test("Several addresses are tried in turn, and share the time")
  func inTurn() throws {
    let party = try Party()
    let server = try Server(party.offer()) { try $0.send(hello, deadline: .after(seconds: soon)) }
    // Nobody at the first; at the second somebody who never answers.
    let (closed, holder) = try boundPort()
    defer { close(holder) }
    let silent = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let connection = try Connection.connect(
      to: [closed, silent.address, server.address], as: party.credentials(party.founder),
      deadline: .after(seconds: 3))
    #expect(connection.peer == server.address)
    #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
    connection.close()
    #expect(try server.result() == nil)
    #expect(throws: ChannelError.connectionRefused(closed)) {
      try Connection.connect(
        to: [closed], as: party.credentials(party.founder), deadline: .after(seconds: 3))
    }
  }

  /// A port that is taken but not listened at: the tests beside cannot get it.
  func boundPort() throws -> (Address, descriptor: Int32) {
    let descriptor = try Socket.make(family: AF_INET)
    let any = try #require(
      try SocketAddress.resolve(
        Address(host: "127.0.0.1", port: 0), deadline: .never, cancellation: nil
      ).first)
    #expect(any.with { bind(descriptor, $0, $1) } == 0)
    return (SocketAddress { getsockname(descriptor, $0, $1) }.address, descriptor)
  }

  @Test("A host that has no address is named")
  func unknownHost() throws {
    let party = try Party()
    let error = failure {
      _ = try Connection.connect(
        to: [Address(host: "no-such-host.invalid", port: 1)],
        as: party.credentials(party.founder), deadline: .after(seconds: 80))
    }
    guard case .hostUnknown("no-such-host.invalid", _) = error else {
      Issue.record("\(error as Any)")
      return
    }
  }
}
