import TestSupport
import Testing

/// The main job, as a user does it: two hosts on one network, each with its own D-Bus and Avahi.
@Suite struct TwoDevicesTests {
  @Test func keepANotebookInSync() throws {
    let lab = try Lab(hosts: 2)
    let alice = try Device("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])

    // A folder that already holds files becomes a notebook; not a byte of them changes.
    let texts = try RealTexts.copy(into: alice.folder)
    try alice.write(
      "Plan.txt", (1...40).map { "Step \($0) of the plan is to be done by somebody." })
    try alice.write("Meeting.txt", ["We meet at nine.", "", "Bring the keys.", ""])
    try alice.write("Shopping.txt", ["Bread", "Milk", ""])
    try alice.write("Obsolete.txt", ["This may go.", ""])
    let before = try run(["cp", "-r", alice.folder, "\(alice.host.home)/original"])
    try #require(before.isSuccess)
    let made = try alice.succeed(
      ["init", alice.folder, "--name", "Home", "--device-name", "alice"], in: alice.host.home)
    #expect(made.text.contains("Home"))
    #expect(made.text.contains("\(texts.count + 4)"), "\(made)")
    let untouched = try run([
      "diff", "-r", "-x", ".git", "\(alice.host.home)/original", alice.folder,
    ])
    #expect(untouched.isSuccess, "\(untouched)")

    // Paired by code, found by Avahi: nothing names a host or a port.
    try pair(alice, bob)
    try expectEqual(alice, bob)

    // Apart, both edit: other lines of one note, the same line of another, the end of a list.
    try lab.setConnected(bob.host, false)
    try alice.edit("Plan.txt") { $0[2] = "Alice has done step three." }
    try alice.edit("Meeting.txt") { $0[0] = "Alice prefers seven in the morning." }
    try alice.edit("Shopping.txt") { $0.insert("Coffee", at: 2) }
    try alice.write("From Alice.txt", ["Hello from Alice.", ""])
    try alice.succeed(["save", "-m", "Alice's edits"])
    try bob.edit("Plan.txt") { $0[30] = "Bob has done step thirty-one." }
    try bob.edit("Meeting.txt") { $0[0] = "Bob could do ten, not earlier." }
    try bob.edit("Shopping.txt") { $0.insert("Olives", at: 2) }
    try bob.edit(texts[0]) { $0.insert("Bob read this.", at: 0) }
    try run(["rm", "\(bob.folder)/Obsolete.txt"]).expectSuccess()
    try bob.succeed(["save", "-m", "Bob's edits"])
    #expect(try alice.tip() != bob.tip())
    try lab.setConnected(bob.host, true)

    // They meet.
    let service = try alice.start(["serve", "--json"])
    let listening: Listening = try decode(try service.line())
    #expect(listening.type == "listening")
    let met = try bob.notes(["sync", "--json"])
    #expect([.exited(0), .exited(3)].contains(met.status), "\(met)")
    let outcome: SyncOutcome = try decode(try #require(met.lines.last))
    #expect(outcome.peers.map(\.name) == ["alice"])
    #expect(try outcome.tip == bob.tip())
    try expectEqual(alice, bob)

    let plan = try bob.lines("Plan.txt")
    #expect(plan[2] == "Alice has done step three.")
    #expect(plan[30] == "Bob has done step thirty-one.")
    #expect(try Set(bob.lines("Shopping.txt")) == ["Bread", "Milk", "Coffee", "Olives", ""])
    #expect(!alice.exists("Obsolete.txt"))
    #expect(bob.exists("From Alice.txt"))
    #expect(try alice.lines(texts[0])[0] == "Bob read this.")
    try expectMarkers(try alice.lines("Meeting.txt"))
    for device in [alice, bob] {
      let status = try device.status()
      #expect(status.conflicts.map(\.path) == ["Meeting.txt"])
      #expect(Set(status.conflicts.flatMap { $0.sides.map(\.name) }) == ["alice", "bob"])
      #expect(status.changes.isEmpty)
      try device.checkGit()
    }

    // Edited away on one device, it is gone on both.
    try bob.write("Meeting.txt", ["We meet at eight.", "", "Bring the keys.", ""])
    try bob.succeed(["sync"])
    try expectEqual(alice, bob)
    for device in [alice, bob] {
      #expect(try device.status().conflicts.isEmpty)
      #expect(try device.status().heads.count == 1)
      #expect(try device.lines("Meeting.txt")[0] == "We meet at eight.")
      try device.checkGit()
    }
    let end = try service.terminate()
    #expect([.exited(0), .exited(130), .exited(143)].contains(end.status), "\(end)")
  }

  @Test func findEachOtherWhenBothSync() throws {
    let lab = try Lab(hosts: 2)
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    try pair(alice, bob)
    try alice.write("From Alice.txt", ["Hello", ""])
    try bob.write("From Bob.txt", ["Hello", ""])
    let first = try alice.start(["sync"])
    try bob.succeed(["sync"])
    let end = try first.wait()
    #expect(end.isSuccess, "\(end)")
    try expectEqual(alice, bob)
    #expect(alice.exists("From Bob.txt") && bob.exists("From Alice.txt"))
  }

  /// notes-protocol(7): addresses with an interface scope work.
  @Test func findEachOtherByLinkLocalIPv6Alone() throws {
    let lab = try Lab(hosts: 2, hasIPv4: false)
    let alice = try Device.founder("alice", on: lab.hosts[0])
    let bob = try Device("bob", on: lab.hosts[1])
    try pair(alice, bob)
    let service = try alice.start(["serve", "--json"])
    _ = try service.line()
    try bob.write("From Bob.txt", ["Hello", ""])
    try bob.succeed(["sync"])
    try expectEqual(alice, bob)
    try service.terminate()
  }

  /// man notes-merge(7): both sides in one block, labelled with who wrote each and when.
  private func expectMarkers(_ lines: [String]) throws {
    #expect(lines.count == 8)
    try #require(lines.count >= 5)
    let labels = [lines[0], lines[4]]
    #expect(lines[0].hasPrefix("<<<<<<< ") && lines[2] == "=======")
    #expect(lines[4].hasPrefix(">>>>>>> "))
    let names = labels.map { String($0.dropFirst(8).prefix { $0 != " " }) }
    #expect(Set(names) == ["alice", "bob"])
    let written = [
      "alice": "Alice prefers seven in the morning.", "bob": "Bob could do ten, not earlier.",
    ]
    #expect(lines[1] == written[names[0]])
    #expect(lines[3] == written[names[1]])
    for label in labels {
      let date = label.drop { $0 != "·" }.dropFirst(2)
      let shape = date.map { $0.isNumber ? "0" : $0 }
      #expect(String(shape) == "0000-00-00 00:00", "\(label)")
    }
    #expect(Array(lines[5...]) == ["", "Bring the keys.", ""])
  }
}
