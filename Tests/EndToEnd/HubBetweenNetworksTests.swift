import TestSupport
import Testing

/// notes-invite(1), --hub: a person on another network, who shares a git server with the notebook and nothing else,
/// joins, writes, adds a phone, is renamed and removed.
@Suite(.timeLimit(.minutes(20))) struct HubBetweenNetworksTests {
  /// Carries connections between a port of this host's loopback and a socket file, in the one direction or the other.
  private static let relay = """
    import os, socket, sys, threading
    kind, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    inside = kind == "inside"
    listener = socket.socket(socket.AF_INET if inside else socket.AF_UNIX)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port) if inside else path)
    listener.listen(64)
    print("ready", flush=True)
    def copy(source, target):
        try:
            while data := source.recv(65536): target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError: pass
    def carry(one):
        other = socket.socket(socket.AF_UNIX if inside else socket.AF_INET)
        other.connect(path if inside else ("127.0.0.1", port))
        threads = [threading.Thread(target=copy, args=pair) for pair in ((one, other), (other, one))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        one.close(); other.close()
    while True:
        threading.Thread(target=carry, args=(listener.accept()[0],), daemon=True).start()
    """

  /// Runs `notes` on a device whose user is let in at the server.
  private func notes(
    _ device: Device, _ words: [String], in folder: String? = nil, _ client: [String: String],
    at location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let result = try device.host.run(
      [device.binary] + words, in: folder ?? device.folder, adding: client)
    try #require(result.isSuccess, "\(device.name) \(words): \(result)", sourceLocation: location)
    return result.text
  }

  @Test(arguments: [GitServer.Kind.ssh, .https])
  func `Networks that share a git server alone are enough for all that people do`(
    kind: GitServer.Kind
  ) throws {
    let lab = try Lab(hosts: 3)
    try lab.separate(lab.hosts[1...])
    let server = try GitServer(kind)
    let path = server.folder["relay"]
    let outside = try RunningProcess([
      "python3", "-c", Self.relay, "outside", "\(server.port)", path,
    ])
    _ = try outside.line { $0 == "ready" }
    let relays = try lab.hosts.map { host in
      let relay = try host.start(["python3", "-c", Self.relay, "inside", "\(server.port)", path])
      _ = try relay.line { $0 == "ready" }
      return relay
    }
    defer { withExtendedLifetime((outside, relays)) {} }
    let client = try server.client()
    let anna = try Device.founder("anna", on: lab.hosts[0])
    let ben = try Device("ben", on: lab.hosts[1])
    let phone = try Device("phone", on: lab.hosts[2])
    let address = try server.makeRepository("home.git")
    _ = try notes(anna, ["remote", "add", "home", address], client)
    func sync(_ devices: Device...) throws -> String {
      try devices.map { try notes($0, ["sync", "--hub"], client) }.joined()
    }

    // Anna invites; Ben joins from the other network.
    let made = try notes(anna, ["invite", "--hub", "home", "--role", "admin"], client)
    let link = try #require(
      made.split(separator: "\n").first { $0.hasPrefix("notes://join/") }.map(String.init))
    _ = try notes(
      ben, ["join", link, ben.folder, "--yes", "--device-name", "ben"], in: ben.host.home, client)
    #expect(try ben.lines("Note.txt") == ["One", ""])
    try ben.write("Ben.txt", ["by ben", ""])
    #expect(try sync(anna).contains("ben is now a member, as admin, by an invitation at home"))
    #expect(try sync(ben).contains("ben is now a member, as admin"))
    _ = try sync(anna)
    #expect(try anna.lines("Ben.txt") == ["by ben", ""])

    // Ben adds a phone in his own network; Anna hears of it at the hub.
    try pair(ben, phone)
    _ = try notes(phone, ["remote", "add", "home", address], client)
    try phone.write("Phone.txt", ["by the phone", ""])
    _ = try sync(ben, phone, anna)
    #expect(try anna.lines("Phone.txt") == ["by the phone", ""])

    // A new name is that of the versions before, on every device.
    _ = try notes(anna, ["members", "rename", "phone", "Ben's phone"], client)
    _ = try sync(anna, ben, phone)
    for device in [anna, ben, phone] {
      let blame = try notes(device, ["blame", "Phone"], client)
      #expect(blame.contains("Ben's phone"), "\(device.name): \(blame)")
    }

    // A device that was removed is told at the hub, and its edits stay with it; the others go on.
    _ = try notes(anna, ["members", "remove", "Ben's phone", "--yes"], client)
    _ = try sync(anna, ben)
    try phone.write("Late.txt", ["too late", ""])
    let told = try phone.host.run(
      [phone.binary, "sync", "--hub"], in: phone.folder, adding: client)
    #expect(told.status == .exited(5), "\(told)")
    #expect((told.text + told.errorText).contains("removed from the notebook"), "\(told)")
    try ben.write("Ben.txt", ["by ben, again", ""])
    _ = try sync(ben, anna)
    #expect(try anna.lines("Ben.txt") == ["by ben, again", ""] && !anna.exists("Late.txt"))
    for device in [anna, ben] { try device.checkGit() }
  }
}
