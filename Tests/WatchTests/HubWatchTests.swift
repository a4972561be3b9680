import Exchange
import Git
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Watch

/// notes-watch(1), "Hubs".
@Suite("Watchers that visit a hub", .timeLimit(.minutes(20)))
struct HubWatchTests {
  // "at the start; a second after something was written here or came from a device ...; every
  // hub-interval seconds"
  @Test("two networks that share a hub alone: what is written in one is soon in the other")
  func twoNetworks() throws {
    let folder = try TemporaryFolder()
    let url = folder["hub.git"]
    let made = try run(["git", "init", "--quiet", "--bare", "--initial-branch=main", url])
    try #require(made.isSuccess, "\(made)")
    let (home, office) = (InMemoryNetwork(), InMemoryNetwork())
    let ada = try Watcher(founding: "Ada", on: home)
    let devices = try [
      ada, Watcher("Bob", certifiedBy: ada), Watcher("Cleo", certifiedBy: ada, on: office),
      Watcher("Dora", certifiedBy: ada, on: office),
    ]
    try ada.write("one\n", to: "A.txt")
    // One device of each network knows the hub; the others hear of it from these.
    for device in [devices[0], devices[2]] {
      device.hubInterval = 1
      try Notebook.open(at: device.folder["notes"]).add(Hub(name: "hub", url: url))
    }
    for device in devices { try device.start() }
    defer { for device in devices { device.stop() } }
    let last = devices[3]
    #expect(last.wait { (try? last.text("A.txt")) == "one\n" })
    try last.write("two\n", to: "B.txt")
    #expect(devices[1].wait { (try? devices[1].text("B.txt")) == "two\n" })
    #expect(try ada.wait { try Set(devices.map { try $0.tip() }).count == 1 })
    // "The same failure of a hub is told once."
    removeTree(url)
    let failed = { (event: Event) in
      if case .failed(let failure) = event { failure.peer?.isHub == true } else { false }
    }
    #expect(ada.events.wait(within: 160) { $0.contains(where: failed) })
    #expect(ada.events.all.count(where: failed) == 1)
  }

  // notes-watch(1): "until an admin's device has let it in, the watcher saves, receives versions from hubs, and connects
  // to no device. If it has asked to join at a hub, it looks there for the answer. Then it goes on as a member's."
  @Test("a device that waits to be let in watches, and goes on as a member")
  func waiting() throws {
    let folder = try TemporaryFolder()
    let hub = Hub(name: "hub", url: folder["hub.git"])
    let made = try run(["git", "init", "--quiet", "--bare", "--initial-branch=main", hub.url])
    try #require(made.isSuccess, "\(made)")
    let network = InMemoryNetwork()
    let ada = try Watcher(founding: "Ada", on: network)
    try ada.context.notebook().add(hub)
    func visitByAda() throws {
      var outcome = SyncOutcome()
      try HubRun(context: ada.context, hubs: [hub]).run(addingTo: &outcome)
      #expect(outcome.failures.isEmpty)
    }
    try ada.write("one\n", to: "A.txt")
    try visitByAda()
    let link = try LinkInvitation(ada.context, at: hub).make(role: .writer, seconds: 3600)

    let home = try TemporaryFolder()
    let key = try DeviceKey.loadOrCreate(in: home["key"])
    var cloning = Cloning(of: .hub(hub), key: key, deviceName: "Bob")
    cloning.secret = link.secret
    let notebook = try cloning.run(into: home["notes"]) { _ in }
    let membership = MembershipStore.folder(ofNotebookAt: notebook.stateFolder)
    let bob = Watcher(
      "Bob",
      SessionContext(
        folder: notebook.folder, key: key, membership: try .open(in: membership), timeouts: .brief),
      in: home, on: network)
    bob.hubInterval = 1
    try bob.start()
    defer { bob.stop() }
    #expect(bob.wait { bob.port != nil })
    try bob.write("two\n", to: "B.txt")
    #expect(bob.wait { bob.events.all.contains { if case .version = $0 { true } else { false } } })
    #expect(bob.context.isGuest)

    try visitByAda()
    func admissions() -> Int {
      bob.events.all.count { if case .admitted = $0 { true } else { false } }
    }
    #expect(bob.wait { admissions() > 0 })
    try ada.start()
    #expect(
      bob.wait { bob.events.all.contains { if case .connected = $0 { true } else { false } } })
    #expect(ada.wait { (try? ada.text("B.txt")) == "two\n" })
    #expect(admissions() == 1)
    ada.stop()
  }

  // notes-forget(1), "Hubs": "at later visits, any writer's device that has followed" replaces the branch; and
  // notes-hub(7): "A device that has not followed yet moves over to a rewritten history at the hub".
  @Test("a watcher that has followed replaces a hub's former history, and others follow there")
  func forgetting() throws {
    let secret = "hunter2-pass-9f"
    let folder = try TemporaryFolder()
    let url = folder["hub.git"]
    let made = try run(["git", "init", "--quiet", "--bare", "--initial-branch=main", url])
    try #require(made.isSuccess, "\(made)")
    let ada = try Watcher(founding: "Ada", on: InMemoryNetwork())
    let watchers = try ["Bob", "Cleo"].map {
      try Watcher($0, certifiedBy: ada, on: InMemoryNetwork())
    }
    let (bob, cleo) = (watchers[0], watchers[1])
    for watcher in watchers {
      watcher.hubInterval = 1
      try Notebook.open(at: watcher.folder["notes"]).add(Hub(name: "hub", url: url))
      try watcher.start()
    }
    defer { for watcher in watchers { watcher.stop() } }
    try ada.write("key \(secret)\n", to: "Wifi.txt")
    #expect(bob.wait { bob.port != nil })
    let atBob = Address(host: "127.0.0.1", port: try #require(bob.port))
    func meetBob() throws {
      var sync = SyncRun(context: ada.context)
      sync.addresses = [atBob]
      #expect(try sync.run().failures.isEmpty)
    }
    try meetBob()
    #expect(cleo.wait { (try? cleo.text("Wifi.txt")) == "key \(secret)\n" })
    #expect(try Leftovers.isReachable(secret, inRepository: url))
    // Ada knows no hub: only the watchers visit it.
    _ = try ada.context.notebook().forget(.text(Array(secret.utf8)))
    try cleo.write("of Cleo with \(secret)\n", to: "Mine.txt")
    try meetBob()
    #expect(try bob.wait { try !Leftovers.isReachable(secret, inRepository: url) })
    #expect(cleo.wait { (try? cleo.text("Mine.txt")) == "of Cleo with [forgotten]\n" })
    #expect(bob.wait { (try? bob.text("Mine.txt")) == "of Cleo with [forgotten]\n" })
    #expect(try bob.wait { try bob.tip() == cleo.tip() })
    #expect(try !Leftovers.isReachable(secret, inRepository: url))
    let followed = { (event: Event) in if case .followed = event { true } else { false } }
    for watcher in watchers {
      // The version is there a moment before the watcher says so.
      #expect(watcher.events.wait(within: 160) { $0.contains(where: followed) }, "\(watcher.name)")
      watcher.stop()
      let places = try Leftovers(in: watcher.folder["notes"]).places(of: secret)
      #expect(places == [], "\(watcher.name)")
      #expect(try watcher.text("Wifi.txt") == "key [forgotten]\n")
      #expect(watcher.events.all.count(where: followed) == 1, "\(watcher.name)")
    }
  }

  @Test("the pace: soon after news, slower after failures, at once with a network")
  func pace() {
    let start = Instant(seconds: 1_000)
    var pace = HubPace(interval: 100, now: start)
    #expect(pace.due == start)
    func visit(_ result: HubPace.Result, at now: Instant) {
      pace.begins()
      pace.visited(result, now: now, chance: 0.5)
    }
    visit(.done, at: start)
    #expect(pace.due == start + 100)
    // "a second after ..., at most every five seconds"
    pace.hasNews(now: start + 1)
    #expect(pace.due == start + 5)
    visit(.done, at: start + 5)
    pace.hasNews(now: start + 50)
    pace.hasNews(now: start + 50.5)
    #expect(pace.due == start + 51)
    // What is written during a visit.
    pace.begins()
    pace.hasNews(now: start + 51)
    pace.visited(.done, now: start + 52, chance: 0.5)
    #expect(pace.due == start + 52)
    // "After a failure the pauses grow, from about ten seconds to an hour."
    var pauses: [Double] = []
    for _ in 0..<12 {
      visit(.failed, at: start)
      pauses.append(pace.due - start)
    }
    #expect(pauses.first == 10 && pauses.last == 3_600 && pauses == pauses.sorted())
    pace.hasNews(now: start)
    #expect(pace.due == start + 3_600)
    pace.isRetried(now: start + 7)
    #expect(pace.due == start + 7)
    // "after thirty seconds, or after a change here"
    visit(.postponed, at: start + 10)
    #expect(pace.due == start + 40)
    pace.hasNews(now: start + 20)
    #expect(pace.due == start + 21)
    pace.isPaused = true
    #expect(pace.due == .never)
    // "more or less by up to a fifth"
    pace.isPaused = false
    for (chance, seconds) in [(0.0, 80.0), (1, 120)] {
      pace.begins()
      pace.visited(.done, now: start, chance: chance)
      #expect(pace.due == start + seconds)
    }
  }
}
