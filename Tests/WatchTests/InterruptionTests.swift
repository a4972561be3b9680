import Channel
import Discovery
import Git
import Glibc
import Membership
import State
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// notes-watch(1): what happens to a machine and its folders while a watcher runs. Beside these,
/// WatchTests have the peer's restart and folders that are made and moved, DiscoveryTests have
/// Avahi's restart, and no clock that can jump is looked at: all moments are the monotonic clock's.
@Suite("A watcher is interrupted", .timeLimit(.minutes(20)))
struct InterruptionTests {
  let network = InMemoryNetwork()

  // notes-protocol(7), "Sessions that go on": "A side sends ping [...] after the machine was asleep".
  @Test("after the machine slept a connection that died is noticed at once")
  func sleep() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    let bob = try Watcher("Bob", certifiedBy: ada, on: InMemoryNetwork())
    try bob.start()
    #expect(bob.wait { bob.port != nil })
    let proxy = try RecordingProxy(to: #require(bob.port))
    defer { proxy.stop() }
    try PeerAddresses(stateFolder: StateFolder(ada.folder["notes/.git/notes"]))
      .remember(Address(host: "127.0.0.1", port: proxy.port), of: bob.key.deviceID)
    try ada.start()
    #expect(ada.wait { ada.sessions?.lasting.count == 1 })
    proxy.hush()
    ada.awake()
    // As an event: Bob may be back, by himself, before anybody looks.
    let isNoticed =
      ada.events.next(within: 180) {
        if case .disconnected = $0 { true } else { false }
      } != nil
    #expect(isNoticed)
  }

  // "A side sends ping […] if the peer is announced at another address."
  @Test("a peer that is announced elsewhere is asked at the old address, and met at the new one")
  func moved() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    let bob = try Watcher("Bob", certifiedBy: ada, on: InMemoryNetwork())
    try bob.start()
    #expect(bob.wait { bob.port != nil })
    let proxy = try RecordingProxy(to: #require(bob.port))
    defer { proxy.stop() }
    let announcement = InMemoryDiscovery(deviceID: bob.key.deviceID, network: network)
    let notebook = ada.context.membership.notebookID
    let before = ServiceRecord.notebook(
      id: notebook, device: bob.key.deviceID, port: proxy.port)
    try announcement.publish(before)
    try ada.start()
    #expect(ada.wait { ada.sessions?.lasting.count == 1 })
    proxy.hush()
    announcement.withdraw(before)
    try announcement.publish(
      .notebook(id: notebook, device: bob.key.deviceID, port: #require(bob.port)))
    try bob.write("from the new address\n", to: "n.txt")
    #expect(ada.wait(180) { (try? ada.text("n.txt")) == "from the new address\n" })
  }

  // "When the notebook's folder is unmounted or moved away, its notes are left as they are in
  // history, and it is watched again when it is back."
  @Test("a folder that goes and comes back loses nothing and is watched again")
  func folderAway() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    try ada.write("1\n", to: "n.txt")
    try ada.start()
    #expect(ada.wait { (try? ada.tip()) != nil })
    #expect(rename(ada.folder["notes"], ada.folder["elsewhere"]) == 0)
    func isTold(_ isThere: Bool) -> Bool {
      ada.events.next {
        if case .folder(_, isThere: isThere) = $0 { true } else { false }
      } != nil
    }
    #expect(isTold(false))
    try ada.folder.write("2\n", to: "elsewhere/n.txt")
    #expect(rename(ada.folder["elsewhere"], ada.folder["notes"]) == 0)
    #expect(isTold(true))
    try ada.write("x\n", to: "d/e/f.txt")
    func text(_ path: String) throws -> String {
      try run(["git", "show", "HEAD:" + path], in: ada.folder["notes"]).text
    }
    #expect(try ada.wait { try text("n.txt") == "2\n" && text("d/e/f.txt") == "x\n" })
  }

  // "The whole folder is looked through … whenever the system says that events were lost."
  @Test("when events are lost, all is looked at, and folders are watched under their new names")
  func overflow() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] { try folder.write("x\n", to: "notes/\(name)/n.txt") }
    try makeFolder(folder["git"])
    let list = { (top: TreePath) in [top, "a", "b", "c"] as [TreePath] }
    let events = try FolderEvents(
      folder: folder["notes"], gitFolder: folder["git"], list: list)
    #expect(events.read().isEmpty)
    // More than any queue holds (fs.inotify.max_queued_events); equal neighbours count once.
    let limit = try #require(
      Int(
        String(decoding: readFile("/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
          .filter(\.isNumber)))
    let files = try ["a", "b"].map { name in
      let file = open(folder["notes/\(name)/n.txt"], O_WRONLY | O_CLOEXEC)
      try #require(file >= 0)
      return file
    }
    defer { for file in files { close(file) } }
    for turn in 0...limit { pwrite(files[turn % 2], "y", 1, 0) }
    #expect(rename(folder["notes/a"], folder["notes/c"]) == 0)
    let found = events.read()
    #expect(found.contains(.everything))
    #expect(!found.contains(.renamed("a", to: "c")))
    // Whoever is told so watches anew.
    let anew = try FolderEvents(folder: folder["notes"], gitFolder: folder["git"], list: list)
    try folder.write("z\n", to: "notes/c/n.txt")
    #expect(anew.read().contains { $0 == .written("c/n.txt") })
  }

  @Test("a tree that is moved in from elsewhere is watched to its depths")
  func treeMovedIn() throws {
    let ada = try Watcher(founding: "Ada", on: network)
    try ada.write("1\n", to: "n.txt")
    try ada.start()
    #expect(ada.wait { (try? ada.tip()) != nil })
    try ada.folder.write("deep\n", to: "aside/b/c/d/e.txt")
    #expect(rename(ada.folder["aside"], ada.folder["notes/aside"]) == 0)
    func text(_ path: String) throws -> String {
      try run(["git", "show", "HEAD:" + path], in: ada.folder["notes"]).text
    }
    #expect(try ada.wait { try text("aside/b/c/d/e.txt") == "deep\n" })
    try ada.write("deeper\n", to: "aside/b/c/d/e.txt")
    #expect(try ada.wait { try text("aside/b/c/d/e.txt") == "deeper\n" })
    #expect(rename(ada.folder["notes/aside/b"], ada.folder["notes/moved"]) == 0)
    #expect(try ada.wait { try text("moved/c/d/e.txt") == "deeper\n" })
    try ada.write("deepest\n", to: "moved/c/d/e.txt")
    #expect(try ada.wait { try text("moved/c/d/e.txt") == "deepest\n" })
  }
}
