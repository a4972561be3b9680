import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-members(1), handover.
@Suite(.timeLimit(.minutes(5))) struct HandoverCommandTests {
  private let laptop: Shell
  private let bob: Shell

  init() throws {
    laptop = try Shell()
    bob = try Shell()
    try laptop.folder.write("one\n", to: "notes/A.txt")
    try laptop.initialise()
    try bob.join(laptop, as: "bob", role: "admin")
  }

  private func sync() throws -> ProcessResult {
    let (serve, port) = try laptop.listening("serve")
    let synced = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    serve.send(SIGTERM)
    try serve.wait()
    return synced
  }

  private func founder(at shell: Shell) throws -> [String] {
    try shell.notes("members", "--json").lines.filter { $0.contains(#""founder":true"#) }
      .map { try Shell.field("name", of: $0) }
  }

  @Test func `The heir becomes the founder on both devices, and can remove the former one`() throws
  {
    // Notes and history stay as they are, and so does the notebook's ID.
    let id = try laptop.notes("status", "--json").text
    let done = try laptop.notes("members", "handover", "bob", "--yes", "--json")
    try #require(done.isSuccess, "\(done)")
    #expect(done.text.contains(#""type":"handed_over","name":"bob""#), "\(done)")
    #expect(try founder(at: laptop) == ["bob"])
    #expect(try sync().isSuccess)
    #expect(try founder(at: bob) == ["bob"])
    let list = try bob.notes("members").text
    #expect(list.contains("founder, by laptop") && list.contains("former founder"), "\(list)")
    #expect(
      try Shell.field("notebook", of: laptop.notes("status", "--json").text)
        == Shell.field("notebook", of: id))

    let permanent = try laptop.notes("members", "remove", "bob", "--yes", "--json")
    #expect(permanent.errorText.contains(#""kind":"founder_is_permanent""#), "\(permanent)")
    let removed = try bob.notes("members", "remove", "laptop", "--yes")
    #expect(removed.text.hasPrefix("Removed laptop."), "\(removed)")
    // The former founder's device is told at its next contact, like any other that was removed.
    let (serve, port) = try bob.listening("serve")
    let refused = try laptop.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    serve.send(SIGTERM)
    try serve.wait()
    #expect(!refused.isSuccess && refused.errorText.contains("removed"), "\(refused)")
    // The heir invites others.
    let carol = try Shell()
    try carol.join(bob, as: "carol")
    #expect(try founder(at: carol) == ["bob"])
  }

  // notes-members(1): "If the list says that a device handed over twice"
  @Test func `A second handover is reported by members and doctor where both were seen`() throws {
    let carol = try Shell()
    try carol.join(laptop, as: "carol", role: "admin")
    try #require(try sync().isSuccess)
    // The founder's disk is copied, and each copy hands over to another device.
    let copy = try Shell()
    for name in ["notes", "home"] {
      let copied = try run(["cp", "-a", laptop.folder[name], copy.folder.path + "/"])
      try #require(copied.isSuccess, "\(copied)")
    }
    try #require(try laptop.notes("members", "handover", "bob", "--yes").isSuccess)
    try #require(try copy.notes("members", "handover", "carol", "--yes").isSuccess)
    func meet(_ one: Shell, _ other: Shell) throws {
      let (serve, port) = try one.listening("serve")
      let synced = try other.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
      try #require(synced.isSuccess, "\(synced)")
      serve.send(SIGTERM)
      try serve.wait()
    }
    try meet(laptop, bob)
    try meet(copy, carol)
    #expect(try !bob.notes("members").text.contains("twice"))
    try meet(bob, carol)
    for (shell, here, there) in [(bob, "bob", "carol"), (carol, "carol", "bob")] {
      #expect(try founder(at: shell) == [here])
      let list = try shell.notes("members").text.split { $0.isWhitespace }.joined(separator: " ")
      #expect(list.contains("laptop handed over twice"), "\(list)")
      #expect(list.contains("here \(here) ("), "\(list)")
      #expect(list.contains("on other devices \(there) ("), "\(list)")
      let doctor = try shell.notes("doctor", "--no-discovery")
      #expect(doctor.text.contains("handed over twice"), "\(doctor)")
      #expect(try words(shell.notes("status")).contains("handed over twice"))
      #expect(doctor.text.contains("notes members reset"), "\(doctor)")
      let json = try shell.notes("members", "--json").lines.filter {
        $0.contains(#""other_heir":""#)
      }
      #expect(json.count == 1 && json[0].contains(#""name":"laptop""#), "\(json)")
    }
    // "If the list says that the former founder was removed"
    try #require(try bob.notes("members", "remove", "laptop", "--yes").isSuccess)
    let list = try bob.notes("members").text.split { $0.isWhitespace }.joined(separator: " ")
    #expect(
      list.contains("laptop, a former founder who was removed, also signed a handover to carol ("),
      "\(list)")
    #expect(list.contains("it does not count here") && !list.contains("members reset"), "\(list)")
    let doctor = try bob.notes("doctor", "--no-discovery")
    #expect(doctor.text.contains("also signed a handover to carol"), "\(doctor)")
    #expect(!doctor.text.contains("handed over twice"), "\(doctor)")
  }

  // notes-members(1): "... another device that the founder made an admin's can claim its place"
  @Test func `A claim is told on every device, and the founder stops it`() throws {
    let carol = try Shell()
    try carol.join(laptop, as: "carol")
    let unasked = try bob.notes("members", "handover", "laptop")
    #expect(!unasked.isSuccess && unasked.errorText.contains("--yes"), "\(unasked)")
    let none = try bob.notes("members", "handover", "--stop", "--json")
    #expect(try errorKind(of: none) == "no_claim", "\(none)")
    // "Run the command there, and name the lost device or its person."
    let claimed = try bob.notes("members", "handover", "laptop", "--yes", "--json")
    #expect(claimed.text.contains(#""type":"claimed","name":"bob""#), "\(claimed)")
    #expect(claimed.text.contains(#""days":14"#), "\(claimed)")
    let own = try words(bob.notes("status"))
    #expect(own.contains("This device claims to be the founder in place of laptop"), "\(own)")
    #expect(own.contains("after 14 more days of use"), "\(own)")

    let synced = try sync()
    #expect(words(synced).contains("claims to be the founder in place of"), "\(synced)")
    let (serve, port) = try laptop.listening("serve")
    let carols = try carol.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    serve.send(SIGTERM)
    try serve.wait()
    let told =
      "bob claims to be the founder in place of laptop: this device accepts the claim after 14 more days"
    #expect(words(carols).lowercased().contains(told), "\(carols)")
    for shell in [laptop, carol] {
      for result in try [
        shell.notes("status"), shell.notes("members"), shell.notes("doctor", "--no-discovery"),
      ] {
        let text = words(result)
        #expect(text.lowercased().contains(told), "\(text)")
        #expect(text.contains("notes members handover --stop"), "\(text)")
      }
      let json = try shell.notes("members", "--json").lines.filter {
        $0.contains(#""claim":"open","claim_days":14"#)
      }
      #expect(json.count == 1 && json[0].contains(#""name":"bob""#), "\(json)")
      #expect(try founder(at: shell) == ["laptop"])
    }
    let refused = try carol.notes("members", "handover", "--stop", "--json")
    #expect(try errorKind(of: refused) == "claim_refused", "\(refused)")

    let stopped = try laptop.notes("members", "handover", "--stop")
    #expect(stopped.text.hasPrefix("Stopped the claim of bob."), "\(stopped)")
    #expect(try !words(laptop.notes("status")).contains("claims"))
    #expect(try sync().isSuccess)
    #expect(try !words(bob.notes("status")).contains("claims"))
    let list = try words(bob.notes("members"))
    #expect(
      list.contains("The claim of bob on the founder's place was stopped by laptop."), "\(list)")
    let again = try bob.notes("members", "handover", "bob", "--yes", "--json")
    #expect(try errorKind(of: again) == "claim_refused", "\(again)")
  }

  // notes-members(1), handover: "and in notes-watch(1) when it learns of the claim".
  @Test func `A running watcher and status --json tell a claim and its stop`() throws {
    let (watch, port) = try laptop.listening("watch")
    try #require(try bob.notes("members", "handover", "bob", "--yes").isSuccess)
    func sync() throws {
      let synced = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
      try #require(synced.isSuccess, "\(synced)")
    }
    try sync()
    let told = try watch.line { $0.contains(#""type":"claim""#) }
    #expect(
      told.contains(#""name":"bob""#) && told.contains(#""founder_name":"laptop""#), "\(told)")
    #expect(told.contains(#""state":"open","days":14"#), "\(told)")
    for shell in [laptop, bob] {
      let status = try shell.notes("status", "--json").text
      #expect(status.contains(#""state":"open","days":14"#), "\(status)")
    }
    try #require(try laptop.notes("members", "handover", "--stop").isSuccess)
    let stopped = try watch.line { $0.contains(#""state":"stopped""#) }
    #expect(stopped.contains(#""type":"claim""#), "\(stopped)")
    watch.send(SIGTERM)
    try watch.wait()
    let (again, _) = try laptop.listening("watch", in: "notes", "--verbose")
    again.send(SIGTERM)
    try again.wait()
  }

  @Test func `A person's name means the claiming device, or the only other admin's`() throws {
    for name in ["phone", "tablet"] {
      let (invite, code, port) = try bob.invite("--mine")
      let new = try Shell()
      let joined = try new.join(code, port, as: name)
      try #require(joined.isSuccess, "\(joined)")
      try invite.wait()
    }
    // Bob's tablet and phone are no admins, so the name means the one that is.
    try #require(try bob.notes("members", "role", "bob (phone)", "writer").isSuccess)
    try #require(try bob.notes("members", "role", "bob (tablet)", "writer").isSuccess)
    try #require(try sync().isSuccess)
    let claimed = try bob.notes("members", "handover", "bob", "--yes", "--json")
    #expect(claimed.text.contains(#""type":"claimed""#), "\(claimed)")
    try #require(try bob.notes("members", "handover", "--stop").isSuccess)
    try #require(try laptop.notes("members", "role", "bob (phone)", "admin").isSuccess)
    let several = try laptop.notes("members", "handover", "bob", "--yes")
    #expect(
      words(several).contains("name one of them: \"bob (bob)\" or \"bob (phone)\""), "\(several)")
    let done = try laptop.notes("members", "handover", "bob (phone)", "--yes", "--json")
    #expect(done.text.contains(#""type":"handed_over""#), "\(done)")
  }

  // notes-members(1), role: "says once which role it has now, and which device gave it"
  @Test func `Another role is told once`() throws {
    for shell in [laptop, bob] {
      #expect(try !words(shell.notes("status")).contains("his device is"))
    }
    try #require(try laptop.notes("members", "role", "bob", "writer", "--yes").isSuccess)
    let lessened = try words(sync())
    #expect(lessened.contains("This device is a writer of Home now, by laptop"), "\(lessened)")
    try #require(try laptop.notes("members", "role", "bob", "admin").isSuccess)
    #expect(try words(sync()).contains("This device is an admin of Home now, by laptop"))
    try #require(try laptop.notes("members", "handover", "bob", "--yes").isSuccess)
    let (serve, port) = try laptop.listening("serve")
    // Programs do not take the news away.
    let json = try bob.notes("sync", "--json", "--no-discovery", "--at", "127.0.0.1:\(port)")
    #expect(json.isSuccess && !json.text.contains("This device"), "\(json)")
    serve.send(SIGTERM)
    try serve.wait()
    let status = try words(bob.notes("status"))
    #expect(status.contains("This device is the founder of Home now, by laptop"), "\(status)")
    #expect(try !words(bob.notes("status")).contains("This device is"))
    #expect(try !words(laptop.notes("status")).contains("his device is"))
  }

  @Test func `After the wait the claimer is the founder, and a late stop is reported`() throws {
    let copy = try Shell()
    for name in ["notes", "home"] {
      let copied = try run(["cp", "-a", laptop.folder[name], copy.folder.path + "/"])
      try #require(copied.isSuccess, "\(copied)")
    }
    try #require(try bob.notes("members", "handover", "bob", "--yes").isSuccess)
    try #require(try sync().isSuccess)
    // Fourteen days go by.
    for shell in [laptop, bob] {
      #expect(try shell.notes("status").isSuccess)
      let file = "notes/.git/notes/membership/claims"
      let lines = try shell.folder.text(file).split(separator: "\n").map { line in
        var words = line.split(separator: " ").map(String.init)
        if words.count == 5, let day = Int(words[4]) { words += (1...14).map { "\(day - $0)" } }
        return words.joined(separator: " ")
      }
      try shell.folder.write(lines.joined(separator: "\n") + "\n", to: file)
    }
    #expect(try founder(at: laptop) == ["laptop"])
    #expect(try founder(at: bob) == ["bob"])
    let told = try sync()
    #expect(words(told).contains("This device is the founder of Home now, by its claim"), "\(told)")
    #expect(try founder(at: laptop) == ["bob"])
    let former = try words(laptop.notes("status"))
    #expect(former.contains("This device is no longer the founder of Home, and is an admin"))
    for shell in [laptop, bob] {
      #expect(try !words(shell.notes("status")).contains("claim"))
    }
    // The founder's other copy comes back, and stops what it sees.
    let (serve, port) = try bob.listening("serve")
    let met = try copy.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    try #require(met.isSuccess, "\(met)")
    try #require(try copy.notes("members", "handover", "--stop").isSuccess)
    try #require(
      try copy.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)").isSuccess)
    serve.send(SIGTERM)
    try serve.wait()
    #expect(try founder(at: copy) == ["laptop"])
    #expect(try founder(at: bob) == ["bob"])
    for result in try [
      bob.notes("status"), bob.notes("members"), bob.notes("doctor", "--no-discovery"),
    ] {
      let text = words(result)
      #expect(text.lowercased().contains("bob is the founder here by a claim"), "\(text)")
      #expect(text.contains("shows the wrong founder join again"), "\(text)")
    }
    let removed = try bob.notes("members", "remove", "laptop", "--yes")
    #expect(removed.text.hasPrefix("Removed laptop."), "\(removed)")
    // "A device that joins by a code follows the claims that the inviting device has accepted"
    let carol = try Shell()
    try carol.join(bob, as: "carol")
    #expect(try founder(at: carol) == ["bob"])
    let names = try carol.notes("members", "--json").lines.map { try Shell.field("name", of: $0) }
    #expect(names == ["carol", "bob"])
  }

  /// The output, without line ends.
  private func words(_ result: ProcessResult) -> String {
    (result.text + result.errorText).split { $0.isWhitespace }.joined(separator: " ")
  }

  @Test func `Only the founder hands over, to an admin, and is asked`() throws {
    let unasked = try laptop.notes("members", "handover", "bob")
    #expect(!unasked.isSuccess && unasked.errorText.contains("--yes"), "\(unasked)")
    // On another admin's device, that is a claim.
    let claim = try bob.notes("members", "handover", "laptop")
    #expect(claim.errorText.contains("no terminal to confirm claiming"), "\(claim)")
    try #require(try laptop.notes("members", "role", "bob", "writer", "--yes").isSuccess)
    let writer = try laptop.notes("members", "handover", "bob", "--yes", "--json")
    #expect(writer.errorText.contains(#""kind":"heir_refused""#), "\(writer)")
    #expect(try founder(at: laptop) == ["laptop"])
  }
}
