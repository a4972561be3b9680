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

  @Test("the pace: soon after news, slower after failures, at once with a network")
  func pace() {
    let start = Instant(seconds: 1_000)
    var pace = HubPace(interval: 100, now: start)
    #expect(pace.due == start)
    func visit(_ isReached: Bool, at now: Instant) {
      pace.begins()
      pace.visited(isReached, now: now, chance: 0.5)
    }
    visit(true, at: start)
    #expect(pace.due == start + 100)
    // "a second after ..., at most every five seconds"
    pace.hasNews(now: start + 1)
    #expect(pace.due == start + 5)
    visit(true, at: start + 5)
    pace.hasNews(now: start + 50)
    pace.hasNews(now: start + 50.5)
    #expect(pace.due == start + 51)
    // What is written during a visit.
    pace.begins()
    pace.hasNews(now: start + 51)
    pace.visited(true, now: start + 52, chance: 0.5)
    #expect(pace.due == start + 52)
    // "After a failure the pauses grow, from about ten seconds to an hour."
    var pauses: [Double] = []
    for _ in 0..<12 {
      visit(false, at: start)
      pauses.append(pace.due - start)
    }
    #expect(pauses.first == 10 && pauses.last == 3_600 && pauses == pauses.sorted())
    pace.hasNews(now: start)
    #expect(pace.due == start + 3_600)
    pace.isRetried(now: start + 7)
    #expect(pace.due == start + 7)
    pace.isPaused = true
    #expect(pace.due == .never)
    // "a fifth more or less"
    pace.isPaused = false
    for (chance, seconds) in [(0.0, 80.0), (1, 120)] {
      pace.begins()
      pace.visited(true, now: start, chance: chance)
      #expect(pace.due == start + seconds)
    }
  }
}
