import TestSupport
import Testing

/// notes-join(1) without a code, and what notes-doctor(1) says of the network: real Avahi, real
/// multicast.
@Suite(.timeLimit(.minutes(20))) struct NearbyTests {
  private func founder(_ name: String, on host: LabHost) throws -> Device {
    try Device.founder(name, on: host, note: "\(name).txt", notebook: "Home of \(name)")
  }

  private func invite(_ device: Device, _ words: String...) throws -> (RunningProcess, Invitation) {
    let process = try device.start(["invite", "--json"] + words)
    return (process, try decode(try process.line { $0.contains(#""invitation""#) }))
  }

  // "Without a code it shows who invites nearby, and asks for it."
  @Test func whoInvitesIsListedAndJoinedByTheCode() throws {
    let lab = try Lab(hosts: 3)
    let alice = try founder("alice", on: lab.hosts[0])
    let carol = try founder("carol", on: lab.hosts[1])
    let bob = try Device("bob", on: lab.hosts[2])
    let home = bob.host.home
    let nobody = try bob.notes(["join", "--wait", "0.5", "--json"], in: home)
    #expect(nobody.status == .exited(4) && nobody.errorText.contains("nobody nearby invites"))
    #expect(nobody.errorText.contains(#""kind":"nobody_invites""#))

    let open = [
      try invite(alice), try invite(alice, "--role", "reader"), try invite(carol),
    ]
    let list = try bob.notes(["join", "--wait", "3", "--json"], in: home)
    #expect(list.isSuccess, "\(list)")
    let ids = [try alice.status().device, try alice.status().device, try carol.status().device]
    for ((_, invitation), id) in zip(open, ids) {
      let line = list.lines.first {
        $0.contains("\"locator\":\"\(invitation.code.prefix(2))\"") && $0.contains(id)
      }
      #expect(line?.contains(#""type":"nearby""#) == true, "\(list)")
      #expect(line?.contains(":\(invitation.port)\"") == true, "\(list)")
    }
    #expect(list.lines.count == 3)
    // No name of a person or a notebook is on the air.
    #expect(!list.text.contains("alice") && !list.text.contains("Home"))
    let text = try bob.notes(["join", "--wait", "3"], in: home).text
    let digits = open[2].1.code.prefix(2)
    #expect(text.contains("\(digits)-…  device \(ids[2].prefix(8)) at "), "\(text)")

    // On a terminal it goes on and asks for the code, which nobody sees in a list of processes.
    let join = try bob.host.run(
      ["script", "-qec", "\(bob.binary) join --wait 3 --name bob", "/dev/null"],
      in: home, input: Array("\(open[0].1.code)\ny\n".utf8))
    #expect(join.text.contains("The code of the invitation: "), "\(join)")
    #expect(join.isSuccess && join.text.contains("Joined Home of alice"), "\(join)")
    #expect(try bob.host.run(["cat", "\(home)/Home of alice/alice.txt"]).text == "One\n")
    try open[0].0.wait().expectSuccess()
    // A device of a notebook at hand is named.
    let known = try bob.notes(["join", "--wait", "3"], in: "\(home)/Home of alice").text
    #expect(known.contains("(alice)"), "\(known)")
    for (process, _) in open.dropFirst() { process.send(2) }
    for (process, _) in open.dropFirst() { try process.wait() }
    // Nor is it announced any longer.
    let after = try bob.notes(["join", "--wait", "2"], in: home)
    #expect(after.status == .exited(4), "\(after)")
  }

  // notes-security(7): "dies after three wrong tries, counted over all addresses".
  @Test func wrongTriesOfAllAddressesCountTogether() throws {
    let lab = try Lab(hosts: 3)
    let alice = try founder("alice", on: lab.hosts[0])
    let (process, invitation) = try invite(alice)
    let wrong = String(invitation.code.dropLast()) + (invitation.code.last == "7" ? "8" : "7")
    for (number, host) in [lab.hosts[1], lab.hosts[2], lab.hosts[1]].enumerated() {
      let guest = try Device("guest", on: host)
      let refused = try guest.notes(
        ["join", "--code-file", "-", guest.folder, "--yes"], in: host.home, input: wrong)
      #expect(refused.status == .exited(5), "\(refused)")
      let told = try process.line { $0.contains(#""wrong_code""#) }
      #expect(told.contains("\"address\":\"\(host.address):"), "\(told)")
      #expect(told.contains("\"attempts_left\":\(2 - number)}"), "\(told)")
    }
    let end = try process.wait()
    #expect(end.errorText.contains(#""kind":"wrong_code""#), "\(end)")
    let late = try Device("late", on: lab.hosts[2])
    let refused = try late.notes(
      ["join", "--at", "\(alice.host.address):\(invitation.port)", "--code-file", "-", "--yes"],
      in: late.host.home, input: invitation.code)
    #expect(!refused.isSuccess, "\(refused)")
  }

  // notes-security(7), WHAT A LISTENER LEARNS: every frame of the link, discovery included.
  @Test func aListenerReadsNoNameTitleOrText() throws {
    let lab = try Lab(hosts: 2)
    let alice = try Device.founder(
      "Adelheid", on: lab.hosts[0], note: "Zwetschgen.txt", notebook: "Haushalt")
    let bob = try Device("Bartholomew", on: lab.hosts[1])
    let listener = try bob.host.start([
      "python3", "-c",
      """
      import socket
      link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
      link.bind(("eth0", 0))
      print("ready", flush=True)
      with open("frames", "wb", buffering=0) as frames:
        while True: frames.write(link.recv(65535))
      """,
    ])
    _ = try listener.line { $0 == "ready" }
    let (process, invitation) = try invite(alice)
    let join = try bob.notes(
      ["join", "--code-file", "-", bob.folder, "--yes", "--name", bob.name],
      in: bob.host.home, input: invitation.code)
    #expect(join.isSuccess, "\(join)")
    try process.wait().expectSuccess()
    try alice.write("Zwetschgen.txt", ["Marmelade", ""])
    let first = try alice.start(["sync"])
    try bob.succeed(["sync"])
    try first.wait().expectSuccess()
    #expect(try bob.lines("Zwetschgen.txt")[0] == "Marmelade")
    listener.send(9)
    try listener.wait()
    let seen = try readFile("\(bob.host.home)/frames")
    let secret = invitation.code.dropFirst(3)
    for text in [
      "Adelheid", "Bartholomew", "Haushalt", "Zwetschgen", "Marmelade", String(secret),
      secret.filter { $0 != "-" },
    ] {
      #expect(seen.firstRange(of: Array(text.utf8)) == nil, "\(text)")
    }
    // What there is to see: both IDs, and that it is notes.
    let status = try alice.status()
    for text in [status.notebook, status.device, "_notes-pair", "_notes-sync", "notes/1"] {
      #expect(seen.firstRange(of: Array(text.utf8)) != nil, "\(text)")
    }
  }

  @Test func theDoctorHearsOtherMachinesByMulticast() throws {
    let lab = try Lab(hosts: 2)
    let alice = try founder("alice", on: lab.hosts[0])
    let bob = try founder("bob", on: lab.hosts[1])
    let serve = try bob.start(["serve", "--json"])
    _ = try serve.line { $0.contains("listening") }
    try alice.host.run(["ip", "link", "set", "lo", "up"]).expectSuccess()
    func finding(_ check: String) throws -> String {
      let lines = try alice.notes(["doctor", "--json"]).lines
      return lines.first { $0.contains("\"check\":\"\(check)\"") } ?? "\(lines)"
    }
    var heard = ""
    // The other machine answers once it has announced itself.
    let deadline = Moment.now + 80
    repeat {
      heard = try finding("multicast")
    } while heard.contains("advice")
      && Moment.now < deadline
    #expect(heard.contains(#""state":"ok""#) && heard.contains("eth0: "), "\(heard)")
    #expect(heard.contains(bob.host.address), "\(heard)")
    #expect(try finding("port").contains(#""state":"ok""#))
    #expect(try finding("discovery").contains("Avahi answers"))
    // A guest network that keeps its clients apart.
    try lab.setConnected(lab.hosts[1], false)
    let alone = try finding("multicast")
    #expect(alone.contains(#""state":"advice""#) && alone.contains(" on eth0"), "\(alone)")
    #expect(alone.contains("--at HOST:PORT"))
    try alice.host.run(["ip", "link", "set", "eth0", "multicast", "off"]).expectSuccess()
    let off = try finding("multicast")
    #expect(off.contains(#""message":"no network interface "#), "\(off)")
    try alice.host.stop(.avahi)
    #expect(try finding("discovery").contains(#""state":"problem""#))
  }
}
