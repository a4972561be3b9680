import Discovery
import Git
import Notebook
import TestSupport
import Testing

@testable import Sync
@testable import Watch

/// notes-protocol(7), "Standing sessions", and notes-watch(1), between devices on loopback.
@Suite("Watching", .timeLimit(.minutes(2)))
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
      #expect(device.wait { device.sessions?.sessions.count == devices.count - 1 })
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
}
