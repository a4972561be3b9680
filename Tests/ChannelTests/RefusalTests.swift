internal import Glibc
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

// notes-security(7), "What is refused": whoever connects, the service goes on.
@Suite("Channel: what is not ours", .timeLimit(.minutes(20)))
struct RefusalTests {
  /// Bytes from somebody who does not speak TLS.
  func send(_ text: String, to address: Address) throws -> Socket {
    let target = try #require(
      try SocketAddress.resolve(address, deadline: .never, cancellation: nil).first)
    let socket = try Socket.connect(
      to: target, deadline: .after(seconds: soon), cancellation: nil)
    #expect(write(socket.descriptor, text, text.utf8.count) == text.utf8.count)
    return socket
  }

  @Test(
    "Plain text is refused", arguments: ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])
  func plainText(_ text: String) throws {
    let party = try Party()
    let server = try Server(party.offer())
    let socket = try send(text, to: server.address)
    #expect(try server.result() == .notTLS)
    withExtendedLifetime(socket) {}
  }

  @Test("A connection that says nothing, or only a little, ends at the deadline")
  func silence() throws {
    let party = try Party()
    for text in ["", "\u{16}\u{3}"] {
      let server = try Server(party.offer(), handshakeSeconds: 0.3)
      let socket = try send(text, to: server.address)
      #expect(try server.result() == .timedOut(.handshake))
      withExtendedLifetime(socket) {}
    }
  }

  @Test("A connection that drips ends at the same deadline")
  func dripping() throws {
    let party = try Party()
    let server = try Server(party.offer(), handshakeSeconds: 0.5)
    let socket = try send("\u{16}\u{3}\u{1}\u{2}", to: server.address)
    let start = Moment.now
    while Moment.now < start + 5, write(socket.descriptor, "\u{1}", 1) == 1 {
      var none = pollfd(fd: -1, events: 0, revents: 0)
      poll(&none, 1, 50)
      if server.isFinished { break }
    }
    #expect(try server.result() == .timedOut(.handshake))
    #expect(Moment.now < start + 4)
  }

  @Test("A TLS 1.2 client is refused by version, in TLS's own words")
  func oldTLS() throws {
    let party = try Party()
    let server = try Server(party.offer())
    let client = try run(
      ["openssl", "s_client", "-connect", server.address.description, "-tls1_2"])
    #expect(try server.result() == .tlsVersionUnsupported)
    #expect(client.errorText.contains("alert protocol version"))
  }

  @Test("A TLS client of another protocol is refused")
  func otherProtocol() throws {
    let party = try Party()
    for alpn in [["-alpn", "h2"], []] {
      let server = try Server(party.offer())
      let client = try run(
        ["openssl", "s_client", "-connect", server.address.description] + alpn)
      #expect(try server.result() == .protocolUnsupported)
      #expect(client.errorText.contains("no application protocol"))
    }
  }

  @Test("A client without a certificate is refused")
  func noCertificate() throws {
    let party = try Party()
    let server = try Server(party.offer())
    _ = try run([
      "openssl", "s_client", "-connect", server.address.description, "-alpn", "notes/1",
      "-servername", party.store.notebookID,
    ])
    #expect(try server.result() == .certificateRefused(.missing))
  }

  @Test("openssl s_client gets in with a member's certificate, and gets no session ticket")
  func thirdPartyClient() throws {
    let party = try Party()
    let desk = try party.add("desk")
    let folder = try TemporaryFolder()
    try folder.write(party.store.root, to: "root.crt")
    try folder.write(try #require(party.store.chain(for: desk).first), to: "desk.crt")
    try folder.write(desk.pem(), to: "desk.pem")
    // s_client takes its trust anchors in PEM alone.
    #expect(
      try run(["openssl", "x509", "-in", folder["root.crt"], "-out", folder["root.pem"]]).isSuccess)
    let server = try Server(party.offer()) { connection in
      try connection.send(
        Frame(type: 1, payload: Array("hello\n".utf8)), deadline: .after(seconds: soon))
      _ = try connection.receive(deadline: .after(seconds: soon))
    }
    let client = try RunningProcess([
      "openssl", "s_client", "-connect", server.address.description, "-alpn", "notes/1",
      "-servername", party.store.notebookID, "-cert", folder["desk.crt"], "-key",
      folder["desk.pem"], "-CAfile", folder["root.pem"], "-verify_return_error",
    ])
    // The hello frame of ours, in the clear at their end.
    _ = try client.line(where: { $0.contains("hello") })
    client.closeInput()
    let result = try client.wait()
    #expect(result.text.contains("New, TLSv1.3"))
    #expect(result.text.contains("ALPN protocol: notes/1"))
    #expect(result.text.contains("Verify return code: 0 (ok)"))
    #expect(!result.text.contains("New Session Ticket"))
    #expect(try server.result() == .closedByPeer)
  }

  @Test("A client told to meet plain text, or silence, says so")
  func strangeServers() throws {
    let party = try Party()
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let address = Address(host: "127.0.0.1", port: listener.port)
    let own = try party.credentials(party.founder)
    let silent = failure {
      _ = try Connection.connect(to: [address], as: own, deadline: .after(seconds: 0.3))
    }
    #expect(silent == .timedOut(.handshake))
    let done = EventLog<Bool>()
    startThread {
      // The one before is still in the queue.
      _ = try? listener.accept(deadline: .after(seconds: soon))
      if let socket = try? listener.accept(deadline: .after(seconds: soon)) {
        let text = "220 mail ready\r\n"
        done.append(write(socket.descriptor, text, text.utf8.count) > 0)
        socket.finish(deadline: .after(seconds: 2), cancellation: nil)
      }
    }
    let plain = failure {
      _ = try Connection.connect(to: [address], as: own, deadline: .after(seconds: soon))
    }
    #expect(plain == .notTLS)
  }
}
