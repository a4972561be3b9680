import TestSupport
import Testing

/// notes-watch(1), "Which devices": "… and at once when … it gets a network or an address that it had
/// not." Without discovery, so that nobody but the kernel can tell of it.
@Suite(.timeLimit(.minutes(20))) struct NetworkNewsTests {
  private static let port = 4711

  private static let listen = ["--no-discovery", "--json", "--listen", "0.0.0.0:\(port)"]

  /// Two devices of one notebook.
  private func devices(of lab: Lab) throws -> (Device, Device) {
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    let invite = try alice.start(["invite"] + Self.listen)
    let invitation: Invitation = try decode(try invite.line { $0.contains(#""invitation""#) })
    try bob.succeed(
      [
        "join", invitation.code, bob.folder, "--yes", "--name", "bob", "--no-discovery", "--at",
        "\(alice.host.address):\(Self.port)",
      ], in: bob.host.home)
    try invite.wait().expectSuccess()
    return (alice, bob)
  }

  private func ip(_ host: LabHost, _ arguments: String) throws {
    try host.run(["ip"] + arguments.split(separator: " ").map(String.init)).expectSuccess()
  }

  /// Waits until the host's card has noticed what was done to its cable.
  private func awaitLink(_ text: String, on host: LabHost) throws {
    let end = Moment.now + 80
    while try !host.run(["ip", "-o", "link", "show", "eth0"]).text.contains(text) {
      try #require(Moment.now < end)
    }
  }

  @Test("Once the cable is plugged in again, a device is met that would be tried in a minute")
  func cable() throws {
    let lab = try Lab(hosts: 2, discovery: false)
    let (alice, bob) = try devices(of: lab)
    // With a device that only serves no session stands: it is met again after 60 s.
    let serve = try bob.start(["serve"] + Self.listen)
    _ = try serve.line { $0.contains(#""listening""#) }
    try alice.succeed(["sync", "--no-discovery", "--at", "\(bob.host.address):\(Self.port)"])
    _ = try serve.line { $0.contains(#""peer""#) }
    let watch = try alice.start(["watch"] + Self.listen)
    _ = try serve.line { $0.contains(#""peer""#) }
    let met = Moment.now
    try lab.setConnected(alice.host, false)
    try awaitLink("NO-CARRIER", on: alice.host)
    try alice.write("Cut.txt", ["off", ""])
    _ = try watch.line { $0.contains(#""version""#) && $0.contains("Cut.txt") }
    #expect(!bob.exists("Cut.txt"))
    try lab.setConnected(alice.host, true)
    _ = try serve.line(within: 160) { $0.contains(#""received""#) }
    #expect(Moment.now - met < 50)
    #expect(try bob.lines("Cut.txt") == ["off", ""])
    for process in [watch, serve] { try process.terminate() }
  }

  // notes-protocol(7), "Sessions that go on": It closes the connection "at once if the machine no longer has the
  // connection's local address".
  @Test("A machine that changes its address goes on at once with the other one")
  func address() throws {
    let lab = try Lab(hosts: 2, discovery: false)
    let (alice, bob) = try devices(of: lab)
    for host in lab.hosts {
      let keep = "echo 1 >/proc/sys/net/ipv4/conf/eth0/promote_secondaries"
      try host.run(["sh", "-c", keep]).expectSuccess()
    }
    // Whoever starts last connects.
    for (mover, other, address) in [(alice, bob, "10.77.0.11"), (bob, alice, "10.77.0.12")] {
      let staying = try other.start(["watch"] + Self.listen)
      _ = try staying.line { $0.contains(#""listening""#) }
      let moving = try mover.start(["watch"] + Self.listen)
      _ = try staying.line { $0.contains(#""here""#) }
      _ = try moving.line { $0.contains(#""here""#) }
      // They work for a while: of two connections of the same moment another one might stay.
      let start = Moment.now
      var number = 0
      repeat {
        number += 1
        try mover.write("\(number) of \(mover.name).txt", ["Here", ""])
        _ = try staying.line { $0.contains(#""received""#) }
      } while Moment.now - start < 3.5
      // One loses its address and gets another, the other has both for a while.
      let change = ["add \(address)/24", "del \(mover.host.address)/24"]
      for step in mover.name == "alice" ? change.reversed() : change {
        try ip(mover.host, "addr \(step) dev eth0")
      }
      _ = try moving.line(within: 120) { $0.contains(#""here""#) }
      try other.write("For \(mover.name).txt", ["There?", ""])
      _ = try moving.line(within: 120) { $0.contains(#""received""#) }
      // A dead connection is noticed after 70 s where nobody looks.
      #expect(Moment.now - start < 55)
      for process in [moving, staying] { try process.terminate() }
    }
  }
}
