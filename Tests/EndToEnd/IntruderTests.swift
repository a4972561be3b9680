import TestSupport
import Testing

/// notes-security(7): who is not a member gets nothing, leaves one line in the log, and the service
/// goes on serving.
@Suite struct IntruderTests {
  @Test func areRefusedInOneLineEach() throws {
    let lab = try Lab(hosts: 2)
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    try pair(alice, bob)
    let notebook = try alice.status().notebook
    let service = try alice.start(["serve", "--json"])
    let listening: Listening = try decode(try service.line())
    let port = listening.port
    let address = "\(alice.host.address):\(port)"

    let intruders: [(String, () throws -> Void)] = [
      ("a stranger's certificate", { try strangersCertificate(bob, address, notebook) }),
      ("TLS 1.2", { try oldTLS(bob, address) }),
      ("plain text", { try plainText(bob, port, at: alice.host.address) }),
      ("silence", { try silence(bob, port, at: alice.host.address) }),
    ]
    for (number, (name, intrude)) in intruders.enumerated() {
      try intrude()
      let line = try service.errorLine { $0.contains("refused") }
      #expect(line.contains(bob.host.address), "\(name): \(line)")
      try bob.write("After \(number).txt", ["Still served.", ""])
      try bob.succeed(["sync"])
      #expect(alice.exists("After \(number).txt"))
    }
    try expectEqual(alice, bob)
    #expect(service.isRunning)
    let end = try service.terminate()
    // One line each, and none of them for who was welcome.
    let complaints = end.errorText.split(separator: "\n").filter { $0.contains("refused") }
    #expect(complaints.count == intruders.count, "\(end.errorText)")
  }

  @Test func aWrongCodeIsRefusedAndTeachesNothing() throws {
    let lab = try Lab(hosts: 2)
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    let invite = try alice.start(["invite", "--json"])
    let invitation: Invitation = try decode(try invite.line { $0.contains(#""invitation""#) })
    let wrong = String(invitation.code.dropLast()) + (invitation.code.last == "7" ? "8" : "7")
    let refused = try bob.notes(["join", wrong, bob.folder, "--yes"], in: bob.host.home)
    #expect(refused.status == .exited(5), "\(refused)")
    #expect(refused.errorText.contains("notes: error: "))
    #expect(refused.errorText.contains("notes: hint: "))
    #expect(!refused.errorText.contains("Home"))
    // Nothing changed on disk.
    #expect(try run(["find", bob.folder]).lines.count <= 1)
    _ = try invite.line { $0.contains(#""wrong_code""#) }
    // The invitation is still open for who knows the code.
    let join = try bob.notes(
      ["join", invitation.code, bob.folder, "--yes", "--name", "bob"], in: bob.host.home)
    #expect(join.isSuccess, "\(join)")
    try invite.wait().expectSuccess()
    try expectEqual(alice, bob)
  }
}

private func strangersCertificate(
  _ device: Device, _ address: String, _ notebook: String
) throws {
  try device.host.run([
    "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=stranger/OU=admin",
    "-keyout", "stranger.key", "-out", "stranger.crt",
  ]).expectSuccess()
  let result = try device.host.run([
    "openssl", "s_client", "-connect", address, "-servername", notebook, "-alpn", "notes/1",
    "-tls1_3", "-cert", "stranger.crt", "-key", "stranger.key", "-ign_eof",
  ])
  // The alert comes after the client believes the handshake done.
  #expect(result.errorText.contains("alert"), "\(result)")
}

private func oldTLS(_ device: Device, _ address: String) throws {
  let result = try device.host.run([
    "openssl", "s_client", "-connect", address, "-tls1_2", "-ign_eof",
  ])
  #expect(!result.isSuccess, "\(result)")
}

private func plainText(_ device: Device, _ port: Int, at host: String) throws {
  try converse(device, port, at: host, saying: "GET / HTTP/1.0\\r\\n\\r\\n")
}

private func silence(_ device: Device, _ port: Int, at host: String) throws {
  try converse(device, port, at: host, saying: "")
}

/// Connects, says something, and waits until the other end hangs up, which it must within seconds.
private func converse(
  _ device: Device, _ port: Int, at host: String, saying words: String
) throws {
  let script = """
    import socket
    s = socket.create_connection(("\(host)", \(port)))
    s.sendall(b"\(words)")
    try:
      while s.recv(1000): pass
    except ConnectionResetError: pass
    """
  try device.host.run(["python3", "-c", script], within: 160).expectSuccess()
}
