internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

// notes-security(7), "Between members".
@Suite("Channel: members", .timeLimit(.minutes(20)))
struct MemberTests {
  @Test("Both ends are authenticated, and each knows the other by its certificate")
  func members() throws {
    let party = try Party()
    let desk = try party.add("desk")
    let deskChain = try party.store.chain(for: desk)
    let server = try Server(party.offer()) { connection in
      try connection.send(hello, deadline: .after(seconds: soon))
      #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
      #expect(
        connection.purpose
          == .member(notebookID: party.store.notebookID, peerChain: deskChain))
      #expect(connection.bytesSent == 10 && connection.bytesReceived == 10)
    }
    let connection = try Connection.connect(
      to: [server.address], as: party.credentials(desk), deadline: .after(seconds: soon))
    #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
    try connection.send(hello, deadline: .after(seconds: soon))
    connection.close()
    #expect(try server.result() == nil)
    #expect(
      connection.purpose
        == .member(
          notebookID: party.store.notebookID, peerChain: try party.store.chain(for: party.founder)))
  }

  @Test("A chain through an admin is presented whole, without the root")
  func chainThroughAdmin() throws {
    let party = try Party()
    let admin = try party.add("admin", .admin)
    let phone = try DeviceKey.random()
    _ = try party.store.issue(
      for: CertificateRequest(name: "phone", key: phone), role: .writer, by: admin)
    let server = try Server(party.offer()) { connection in
      guard case .member(_, let chain) = connection.purpose else { throw ChannelError.notTLS }
      #expect(chain.count == 2)
      try connection.send(hello, deadline: .after(seconds: soon))
    }
    let connection = try Connection.connect(
      to: [server.address], as: party.credentials(phone), deadline: .after(seconds: soon))
    #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
    connection.close()
    #expect(try server.result() == nil)
  }

  // "without the root".
  @Test("The founder presents its own certificate alone")
  func ownCertificateAlone() throws {
    let party = try Party()
    let server = try Server(party.offer())
    let client = try run([
      "openssl", "s_client", "-connect", server.address.description, "-showcerts", "-alpn",
      "notes/1", "-servername", party.store.notebookID,
    ])
    #expect(client.lines.filter { $0 == "-----BEGIN CERTIFICATE-----" }.count == 1)
    // It has none itself.
    #expect(try server.result() == .certificateRefused(.missing))
  }

  @Test("One port serves several notebooks: SNI chooses")
  func severalNotebooks() throws {
    let home = try Party()
    let work = try Party()
    let homeOwn = try home.credentials(home.founder)
    let workOwn = try work.credentials(work.founder)
    let offer = ServerOffer(member: { name in
      [homeOwn, workOwn].first { $0.notebookID == name }
    })
    for party in [home, work] {
      let server = try Server(offer) { try $0.send(hello, deadline: .after(seconds: soon)) }
      let connection = try Connection.connect(
        to: [server.address], as: party.credentials(party.add("desk")),
        deadline: .after(seconds: soon))
      _ = try connection.receive(deadline: .after(seconds: soon))
      connection.close()
      #expect(try server.result() == nil)
    }
  }

  // notes-protocol(7), DISCOVERY: "An announcement is only a hint: the handshake decides who answers."
  @Test("Impostors at addresses of a device keep nobody from it")
  func impostors() throws {
    let party = try Party()
    let other = try Party()
    let desk = try party.add("desk")
    // A stranger who poses as the notebook, one that serves another, and somebody without TLS.
    let foreign = try other.credentials(other.founder)
    let posing = try Server(
      ServerOffer(member: { _ in
        MemberCredentials(
          notebookID: party.store.notebookID, root: party.store.root, chain: foreign.chain,
          privateKey: foreign.privateKey, verify: { _ in .accepted })
      }))
    let elsewhere = try Server(other.offer())
    // The listener goes away at once.
    let closed = Address(
      host: "127.0.0.1", port: try Listener(at: Address(host: "127.0.0.1", port: 0)).port)
    let genuine = try Server(party.offer()) { try $0.send(hello, deadline: .after(seconds: soon)) }
    let impostors = [posing.address, elsewhere.address, closed]
    let connection = try Connection.connect(
      to: impostors + [genuine.address], as: party.credentials(desk),
      deadline: .after(seconds: soon))
    #expect(try connection.receive(deadline: .after(seconds: soon)) == hello)
    connection.close()
    #expect(try genuine.result() == nil)
    // Alone, they are told as what they are.
    let again = try Server(
      ServerOffer(member: { _ in
        MemberCredentials(
          notebookID: party.store.notebookID, root: party.store.root, chain: foreign.chain,
          privateKey: foreign.privateKey, verify: { _ in .accepted })
      }))
    let error = failure {
      _ = try Connection.connect(
        to: [again.address, closed], as: party.credentials(desk), deadline: .after(seconds: soon))
    }
    #expect(error == .certificateRefused(.stranger))
  }

  @Test("A notebook that is not served is refused by its name")
  func unknownNotebook() throws {
    let party = try Party()
    let other = try Party()
    let server = try Server(party.offer())
    let error = failure {
      _ = try Connection.connect(
        to: [server.address], as: other.credentials(other.founder),
        deadline: .after(seconds: soon))
    }
    #expect(error == .notebookUnknown)
    #expect(try server.result() == .notebookUnknown)
  }

  @Test("A stranger's certificate is refused; the stranger learns it at its first read")
  func stranger() throws {
    let party = try Party()
    let other = try Party()
    let server = try Server(party.offer())
    let own = try other.credentials(other.founder)
    // It knows the notebook's ID and root, which are no secrets, but has no certificate from it.
    let posing = MemberCredentials(
      notebookID: party.store.notebookID, root: party.store.root, chain: own.chain,
      privateKey: own.privateKey, verify: { _ in .accepted })
    let error = failure {
      let connection = try Connection.connect(
        to: [server.address], as: posing, deadline: .after(seconds: soon))
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    #expect(error == .refusedByPeer(.stranger))
    #expect(try server.result() == .certificateRefused(.stranger))
  }

  @Test("A server that is a stranger is refused by the client")
  func strangeServer() throws {
    let party = try Party()
    let other = try Party()
    let own = try other.credentials(other.founder)
    let posing = MemberCredentials(
      notebookID: party.store.notebookID, root: party.store.root, chain: own.chain,
      privateKey: own.privateKey, verify: { _ in .accepted })
    let server = try Server(ServerOffer(member: { _ in posing }))
    let error = failure {
      _ = try Connection.connect(
        to: [server.address], as: party.credentials(party.add("desk")),
        deadline: .after(seconds: soon))
    }
    #expect(error == .certificateRefused(.stranger))
    #expect(try server.result() == .refusedByPeer(.stranger))
  }

  @Test("A removed device is refused, and told so")
  func removed() throws {
    let party = try Party()
    let desk = try party.add("desk")
    let credentials = try party.credentials(desk)
    try party.store.remove(devices: [desk.deviceID], by: party.founder)
    let server = try Server(party.offer())
    let error = failure {
      let connection = try Connection.connect(
        to: [server.address], as: credentials, deadline: .after(seconds: soon))
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    #expect(error == .refusedByPeer(.removed))
    #expect(try server.result() == .certificateRefused(.removed))
  }

  @Test("A device whose role was changed while it was away gets in with its old certificate")
  func superseded() throws {
    let party = try Party()
    let desk = try party.add("desk")
    let old = try party.store.chain(for: desk)
    try party.store.reissue(device: desk.deviceID, role: .reader, by: party.founder)
    #expect(try party.store.chain(for: desk) != old)
    let server = try Server(party.offer()) { try $0.send(hello, deadline: .after(seconds: soon)) }
    let connection = try Connection.connect(
      to: [server.address], as: party.credentials(desk, chain: old), deadline: .after(seconds: soon)
    )
    _ = try connection.receive(deadline: .after(seconds: soon))
    connection.close()
    #expect(try server.result() == nil)
  }

  @Test("A certificate without its key does not get in")
  func stolenCertificate() throws {
    let party = try Party()
    let thief = try DeviceKey.random()
    let stolen = try party.store.chain(for: party.add("desk"))
    let server = try Server(party.offer())
    let error = failure {
      _ = try Connection.connect(
        to: [server.address], as: party.credentials(thief, chain: stolen),
        deadline: .after(seconds: soon))
    }
    guard case .tls = error else {
      Issue.record("OpenSSL took a key that does not belong to its certificate: \(error as Any)")
      return
    }
    #expect(try server.result() == .connectionLost)
  }
}
