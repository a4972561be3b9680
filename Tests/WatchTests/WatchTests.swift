import Channel
import Discovery
import Git
import Membership
import Notebook
import State
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// notes-protocol(7), "Sessions that go on", and notes-watch(1), between devices on loopback.
@Suite("Watching", .timeLimit(.minutes(20)))
struct WatchTests {
  let network = InMemoryNetwork()

  private func devices(_ count: Int) throws -> [Watcher] {
    let ada = try Watcher(founding: "Ada", on: network)
    return try [ada]
      + ["Bob", "Cleo", "Dan"].prefix(count - 1).map {
        try Watcher($0, certifiedBy: ada)
      }
  }

  private func start(_ devices: [Watcher]) throws {
    for device in devices { try device.start() }
    for device in devices {
      #expect(device.wait { device.sessions?.lasting.count == devices.count - 1 })
    }
  }

  private func expectAlike(_ devices: [Watcher]) throws {
    let alike = try devices[0].wait { Set(try devices.map { try $0.tip() }).count == 1 }
    #expect(alike)
  }

  @Test("a save on one is on the other, in both directions, however an editor saves")
  func pushes() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1])
    try ada.write("before\n", to: "old.txt")
    try start(devices)
    #expect(bob.wait { (try? bob.text("old.txt")) == "before\n" })
    try ada.write("1\n", to: "a.txt")
    #expect(bob.wait { (try? bob.text("a.txt")) == "1\n" })
    try bob.write("new\n", to: "a.txt.new")
    _ = try run(["mv", bob.folder["notes/a.txt.new"], bob.folder["notes/a.txt"]])
    #expect(ada.wait { (try? ada.text("a.txt")) == "new\n" })
    _ = try run(["sh", "-c", "mkdir -p d/e && echo x >d/e/n.txt"], in: ada.folder["notes"])
    #expect(bob.wait { (try? bob.text("d/e/n.txt")) == "x\n" })
    _ = try run(["mv", "d", "f"], in: ada.folder["notes"])
    #expect(bob.wait { (try? bob.text("f/e/n.txt")) == "x\n" })
    _ = try run(["rm", "-r", "f"], in: bob.folder["notes"])
    #expect(ada.wait { (try? ada.text("f/e/n.txt")) == nil })
    try expectAlike(devices)
  }

  // "If another session is already fetching a head, a side does not ask for it", so no device gets a pack twice
  // except in a race. "A side does not answer for heads that it knows."
  @Test("in a triangle every save comes once, and then it is quiet")
  func triangle() throws {
    let devices = try devices(3)
    try start(devices)
    try expectAlike(devices)
    for number in 0..<10 {
      let writer = devices[number % 3]
      try writer.write("\(number)\n", to: "n\(number).txt")
      #expect(writer.wait { devices.allSatisfy { (try? $0.text("n\(number).txt")) != nil } })
    }
    try expectAlike(devices)
    // Whoever did not write a note received it, once; a pack that came again would change nothing.
    let expected = [6, 7, 7]
    #expect(devices[0].wait { devices.map(\.received) == expected })
    // "but for a race: two who are asked at the same moment may both answer."
    #expect(devices.map(\.receivedInVain).reduce(0, +) <= 2)
    let quiet = devices.map { $0.sessions?.lasting.map(\.state.tip) }
    #expect(quiet.allSatisfy { $0?.count == 2 })
  }

  @Test("a device that cannot be reached gets it from one that can")
  func passedOn() throws {
    let devices = try devices(3)
    let (ada, bob, cleo) = (devices[0], devices[1], devices[2])
    try start([ada, bob])
    try ada.write("1\n", to: "n.txt")
    #expect(bob.wait { (try? bob.text("n.txt")) == "1\n" })
    ada.stop()
    try cleo.start()
    #expect(cleo.wait { (try? cleo.text("n.txt")) == "1\n" })
    // The peer's restart: it finds the others, and gets what happened meanwhile.
    try cleo.write("2\n", to: "n.txt")
    try ada.start()
    #expect(ada.wait { (try? ada.text("n.txt")) == "2\n" })
    #expect(ada.wait { ada.sessions?.lasting.count == 2 })
    try expectAlike(devices)
  }

  // notes-watch(1): "Devices are found on the local network, and tried where they were last, be it by
  // another command".
  @Test("a device that another command has reached is connected to at once")
  func reachedByACommand() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    let bob = try Watcher("Bob", certifiedBy: ada, on: InMemoryNetwork())
    try ada.start()
    try bob.start()
    #expect(ada.wait { ada.port != nil })
    #expect(bob.wait { bob.port != nil })
    var run = SyncRun(context: bob.context)
    run.addresses = [Address(host: "127.0.0.1", port: try #require(ada.port))]
    _ = try run.run()
    #expect(bob.wait { bob.sessions?.lasting.count == 1 })
    try bob.write("live\n", to: "n.txt")
    #expect(ada.wait { (try? ada.text("n.txt")) == "live\n" })
  }

  @Test("both edit the same line at once: both end with the same markers")
  func conflict() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1])
    try start(devices)
    try ada.write("line\n", to: "n.txt")
    #expect(bob.wait { (try? bob.text("n.txt")) == "line\n" })
    try ada.write("by Ada\n", to: "n.txt")
    try bob.write("by Bob\n", to: "n.txt")
    #expect(ada.wait { (try? ada.text("n.txt").hasPrefix("<<<<<<<")) == true })
    try expectAlike(devices)
    #expect(try ada.text("n.txt") == bob.text("n.txt"))
  }

  @Test("commands ask the watcher who is connected, and let it pause")
  func control() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1])
    #expect(ada.control() == nil)
    try start(devices)
    let status = try run(["stat", "-c", "%a", ada.folder["run"]]).text
    #expect(status == "700\n")
    try ada.write("1\n", to: "n.txt")
    #expect(bob.wait { (try? bob.text("n.txt")) == "1\n" })
    let before = try #require(ada.control()?.status(within: 40))
    #expect(before.watcher.port == ada.port && !before.watcher.isPaused)
    let results = try #require(ada.control()?.synchronize(within: 40, since: before))
    #expect(results.map(\.peer.name) == ["Bob"] && results.map(\.isInSync) == [true])
    #expect(try results.first?.tip == ada.tip())
    // "Lock files that editors keep beside an open note are told to the other devices."
    try bob.write("", to: ".n.txt.swp")
    #expect(ada.wait { ada.editing("Bob") == ["n.txt"] })
    #expect(ada.control()?.all(.pause) != nil)
    for device in devices { #expect(device.wait { device.sessions?.lasting.isEmpty == true }) }
    // Whoever tries to connect meanwhile is turned away: notes-watch(1), --pause.
    try ada.write("2\n", to: "n.txt")
    #expect(bob.control()?.synchronize(within: 20, since: before)?.isEmpty == true)
    #expect(try bob.text("n.txt") == "1\n")
    #expect(ada.control()?.all(.resume) != nil)
    #expect(bob.wait { (try? bob.text("n.txt")) == "2\n" })
    #expect(ada.wait { ada.sessions?.lasting.count == 1 })
  }

  // notes-control(7), "Requests", invite: first an invitation, then what becomes of it, at last ended.
  @Test("an invitation is opened by the watcher, and ends with the command that asked for it")
  func invitation() throws {
    let ada = try devices(1)[0]
    try ada.start()
    #expect(ada.wait { ada.control() != nil })
    let client = try #require(ada.control())
    let request = ControlRequest.invite(role: .reader, seconds: 60, name: nil, device: nil)
    #expect(client.ask(request))
    guard case .event(.invitation(let open))? = client.next(within: 40) else {
      Issue.record("no invitation")
      return
    }
    #expect(open.role == .reader && open.port == ada.port)
    let book = InvitationBook(stateFolder: StateFolder(ada.folder["notes/.git/notes"]))
    let locator = open.code.locator
    #expect(book.open().map(\.locator) == [locator])
    #expect(try book.cancel(locator: locator))
    guard case .event(.ended(locator, .withdrawn))? = client.next(within: 40) else {
      Issue.record("no end")
      return
    }
    guard case .done? = client.next(within: 40) else {
      Issue.record("no last line")
      return
    }
    #expect(book.all().map(\.state) == [.cancelled])
    do {
      let other = try #require(ada.control())
      #expect(other.ask(request))
      guard case .event(.invitation)? = other.next(within: 40) else {
        Issue.record("no invitation")
        return
      }
    }
    #expect(ada.wait { book.open().isEmpty })
  }

  @Test("notes that a command says it edits are told to the others until it ends")
  func editing() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1])
    try start(devices)
    do {
      let client = try #require(ada.control())
      #expect(client.ask(.edit(paths: ["n.txt"])))
      #expect(bob.wait { bob.editing("Ada") == ["n.txt"] })
    }
    #expect(bob.wait { bob.editing("Ada") == [] })
  }

  // A device that is not known may be a member whom another admin certified.
  @Test("only whom it knows to be blocked or removed a watcher leaves alone")
  func unwanted() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1].key.deviceID)
    let watched = try WatchedNotebook(ada.context) { _ in }
    let membership = ada.context.membership
    #expect(watched.exchanges(with: "SOMEBODY") && watched.exchanges(with: bob))
    try membership.setBlocked(true, device: bob, by: ada.key)
    #expect(!watched.exchanges(with: bob))
    try membership.setBlocked(false, device: bob, by: ada.key)
    #expect(watched.exchanges(with: bob))
    try membership.remove(devices: [bob], by: ada.key)
    #expect(!watched.exchanges(with: bob))
  }

  @Test("what was read for a save is not held open for ever")
  func lettingGo() throws {
    let devices = try devices(2)
    let (ada, bob) = (devices[0], devices[1])
    try start(devices)
    for number in 0..<5 {
      try ada.write("\(number)\n", to: "n.txt")
      #expect(bob.wait { (try? bob.text("n.txt")) == "\(number)\n" })
    }
    #expect(bob.wait { bob.openPacks > 0 })
    bob.rest()
    #expect(bob.wait { bob.openPacks == 0 })
    try ada.write("after a while\n", to: "n.txt")
    #expect(bob.wait { (try? bob.text("n.txt")) == "after a while\n" })
  }

  @Test("a version that would delete most notes is held back")
  func massDeletion() throws {
    let device = try devices(1)[0]
    for number in 0..<12 { try device.write("\(number)\n", to: "\(number).txt") }
    try device.start()
    #expect(device.wait { (try? device.tip()) != nil })
    let tip = try device.tip()
    _ = try run(["sh", "-c", "rm *.txt"], in: device.folder["notes"])
    let held = device.events.next {
      if case .held(_, deleted: 12, of: 12) = $0 { true } else { false }
    }
    #expect(held != nil)
    #expect(try device.tip() == tip)
  }
}
