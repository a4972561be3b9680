internal import Glibc
internal import Synchronization
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

// notes-security(7), "Pairing".
@Suite("Channel: pairing", .timeLimit(.minutes(20)))
struct PairingTests {
  /// The key for an identity, as an inviting device finds it.
  static func answering(_ code: InvitationCode) -> @Sendable ([UInt8]) -> [UInt8]? {
    { bytes in
      guard let identity = PairingIdentity(bytes: bytes), identity.locator == code.locator else {
        return nil
      }
      return try? code.preSharedKey(for: identity)
    }
  }

  static func credentials(_ code: InvitationCode) throws -> PairingCredentials {
    let identity = try PairingIdentity(locator: code.locator)
    return PairingCredentials(
      identity: identity.bytes, preSharedKey: try code.preSharedKey(for: identity))
  }

  @Test("The same code on both sides makes a connection, at the port that serves notebooks")
  func rightCode() throws {
    let party = try Party()
    let code = try InvitationCode.random()
    let own = try PairingTests.credentials(code)
    let server = try Server(party.offer(pairing: PairingTests.answering(code))) { connection in
      guard case .pairing(let identity) = connection.purpose else { throw ChannelError.notTLS }
      #expect(PairingIdentity(bytes: identity)?.locator == code.locator)
      try connection.send(hello, deadline: .after(seconds: soon))
    }
    let connection = try Connection.connect(
      to: [server.address], pairing: own, deadline: .after(seconds: soon))
    #expect(connection.purpose == .pairing(identity: own.identity))
    #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
    connection.close()
    #expect(try server.result() == nil)
  }

  @Test("A wrong code fails the handshake on both sides")
  func wrongCode() throws {
    let party = try Party()
    let right = try #require(InvitationCode(parsing: "47-ABCD-EFGH23"))
    let wrong = try #require(InvitationCode(parsing: "47-ABCD-EFGH24"))
    let server = try Server(party.offer(pairing: PairingTests.answering(right)))
    let error = failure {
      _ = try Connection.connect(
        to: [server.address], pairing: PairingTests.credentials(wrong),
        deadline: .after(seconds: soon))
    }
    #expect(error == .wrongCode)
    #expect(try server.result() == .wrongCode)
  }

  @Test(
    "Either alert by which versions of OpenSSL refuse a key says that the code is wrong",
    arguments: [UInt8(47), 51])  // illegal_parameter, decrypt_error
  func wrongCodeAlerts(alert: UInt8) throws {
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let code = try #require(InvitationCode(parsing: "47-ABCD-EFGH23"))
    let own = try PairingTests.credentials(code)
    startThread {
      guard let socket = try? listener.accept(deadline: .after(seconds: 80)) else { return }
      let record: [UInt8] = [21, 3, 3, 0, 2, 2, alert]
      _ = write(socket.descriptor, record, record.count)
      // What the client has sent is read: closing with it unread would drop the alert.
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(socket.descriptor, &bytes, bytes.count) > 0 {}
    }
    let address = Address(host: "127.0.0.1", port: listener.port)
    let error = failure {
      _ = try Connection.connect(to: [address], pairing: own, deadline: .after(seconds: soon))
    }
    #expect(error == .wrongCode)
  }

  @Test("A wrong code is tried at one address only: each costs a try of the invitation")
  func wrongCodeOnce() throws {
    let party = try Party()
    let right = try #require(InvitationCode(parsing: "47-ABCD-EFGH23"))
    let wrong = try #require(InvitationCode(parsing: "47-ABCD-EFGH24"))
    let first = try Server(party.offer(pairing: PairingTests.answering(right)))
    let second = try Server(party.offer(pairing: PairingTests.answering(right)))
    let error = failure {
      _ = try Connection.connect(
        to: [first.address, second.address], pairing: PairingTests.credentials(wrong),
        deadline: .after(seconds: soon))
    }
    #expect(error == .wrongCode)
    #expect(try first.result() == .wrongCode)
    second.cancellation.cancel()
    #expect(try second.result() == .cancelled)
  }

  @Test("An invitation that is not open is told apart from a wrong code")
  func unknownInvitation() throws {
    let party = try Party()
    let server = try Server(party.offer())
    let error = failure {
      _ = try Connection.connect(
        to: [server.address], pairing: PairingTests.credentials(.random()),
        deadline: .after(seconds: soon))
    }
    #expect(error == .invitationUnknown)
    #expect(try server.result() == .invitationUnknown)
  }

  @Test("A server that answers with a certificate instead of the code is refused")
  func certificateInsteadOfCode() throws {
    // OpenSSL's own server, which knows no pre-shared key and would serve anybody.
    let party = try Party()
    let folder = try TemporaryFolder()
    try folder.write(party.store.root, to: "root.crt")
    try folder.write(party.founder.pem(), to: "key.pem")
    let server = try RunningProcess([
      "openssl", "s_server", "-accept", "127.0.0.1:0", "-tls1_3", "-cert",
      folder["root.crt"], "-key", folder["key.pem"], "-alpn", "notes-pair/1",
    ])
    defer { server.send(9) }
    let line = try server.line(where: { $0.hasPrefix("ACCEPT ") })
    let address = try #require(Address(parsing: String(line.dropFirst(7))))
    let error = failure {
      _ = try Connection.connect(
        to: [address], pairing: PairingTests.credentials(.random()),
        deadline: .after(seconds: soon))
    }
    #expect(error == .wrongCode)
  }

  @Test("A member's certificate is no way into a pairing, nor a code into a notebook")
  func separateContexts() throws {
    let party = try Party()
    let code = try InvitationCode.random()
    let asked = Mutex(false)
    let server = try Server(
      party.offer(pairing: { identity in
        asked.withLock { $0 = true }
        return PairingTests.answering(code)(identity)
      })
    ) { try $0.send(hello, deadline: .after(seconds: soon)) }
    let connection = try Connection.connect(
      to: [server.address], as: party.credentials(party.add("desk")),
      deadline: .after(seconds: soon))
    _ = try connection.receive(deadline: .after(seconds: soon))
    connection.close()
    #expect(try server.result() == nil)
    #expect(asked.withLock { $0 } == false)
  }
}
