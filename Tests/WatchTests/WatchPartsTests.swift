import Channel
import Git
import Glibc
import History
import Membership
import TestSupport
import Testing
import WorkTree

@testable import Exchange
@testable import Watch

/// notes-watch(1), "When a version is made" and "Which devices", with moments given.
@Suite("When the watcher does what")
struct WatchPartsTests {
  let start = Instant(seconds: 1_000)

  // "A file that is closed after writing, or renamed into place, is versioned at once. A file that stays open is
  // versioned when it is unchanged for 2 s, or, if it keeps changing, after 10 s."
  @Test("a file settles when it is closed, rests, or has been written for too long")
  func settles() {
    var paths = UnsettledPaths()
    paths.complete("whole.txt", start)
    paths.writing("long.txt", start)
    #expect(paths.ready(start) == ["whole.txt"])
    paths.remove(["whole.txt"])
    for second in 1..<10 {
      paths.writing("long.txt", start + Double(second))
      #expect(paths.ready(start + Double(second)).isEmpty)
    }
    #expect(paths.ready(start + 10) == ["long.txt"])
    paths.complete("long.txt", start + 5)
    #expect(paths.ready(start + 5) == ["long.txt"])
  }

  // "Some editors save by deleting and writing anew."
  @Test("a deleted file may come back")
  func comesBack() {
    var paths = UnsettledPaths()
    paths.gone("n.txt", start)
    #expect(paths.ready(start + 0.1).isEmpty)
    paths.complete("n.txt", start + 0.1)
    #expect(paths.ready(start + 0.1) == ["n.txt"])
  }

  @Test("files that go one after the other go together")
  func goTogether() {
    var paths = UnsettledPaths()
    paths.gone("1.txt", start)
    paths.gone("2.txt", start + 0.15)
    #expect(paths.ready(start + 0.3).isEmpty)
    #expect(paths.ready(start + 0.36) == ["1.txt", "2.txt"])
  }

  @Test("the first save counts at once, a burst is one more, and no end of them is slowed down")
  func pace() {
    var pace = VersionPace()
    var now = Instant.now
    #expect(pace.earliest(now) == now)
    pace.saved(["n.txt"], now)
    #expect(pace.earliest(now) == now + VersionPace.window)
    var versions = 0
    let end = now + 60
    while now < end {
      now = max(pace.earliest(now), pace.earliest(for: "n.txt", now)) + 0.001
      pace.saved(["n.txt"], now)
      versions += 1
    }
    #expect((10...25).contains(versions))
  }

  @Test("waits grow up to a minute and are never alike")
  func backoff() {
    var backoff = Backoff()
    let waits = (0..<12).map { _ in backoff.next(isSeen: true) }
    #expect(waits[0] < 0.7 && waits[11] > 40 && waits.allSatisfy { $0 <= 75 })
    #expect(Set(waits).count == waits.count)
    backoff.reset()
    let again = backoff.next(isSeen: true)
    #expect(again < 0.7)
  }

  @Test("the lock files of editors name their note")
  func locks() {
    #expect(EditorLock.note(lockedBy: ".plan.txt.swp") == "plan.txt")
    #expect(EditorLock.note(lockedBy: ".#plan.txt") == "plan.txt")
    #expect(EditorLock.note(lockedBy: ".~lock.plan.odt#") == "plan.odt")
    #expect(EditorLock.note(lockedBy: "plan.txt") == nil)
    #expect(EditorLock.note(lockedBy: ".swp") == nil)
  }

  @Test("a device is tried at once when it is announced, and again after growing waits")
  func dials() {
    let target = Dialer.Target(notebookID: "n", deviceID: "B")
    var dialer = Dialer(ownDevices: ["n": "A"], staysConnected: true)
    func take() -> [Dialer.Attempt] { dialer.take { _ in false } }
    #expect(take().isEmpty)
    _ = dialer.found(target, at: [Address(host: "127.0.0.1", port: 1)])
    #expect(take().map(\.target) == [target])
    #expect(take().isEmpty)
    dialer.ended(.failed, with: target)
    #expect(take().isEmpty)
    // Elsewhere, it is tried at once.
    let hasMoved = dialer.found(target, at: [Address(host: "127.0.0.1", port: 2)])
    #expect(hasMoved)
    #expect(take().map(\.addresses.first?.port) == [2])
    _ = dialer.found(
      Dialer.Target(notebookID: "n", deviceID: "A"), at: [Address(host: "127.0.0.1", port: 3)])
    #expect(take().isEmpty)
  }

  // "Also … when the machine was asleep."
  @Test("sleep shows in the difference of two clocks")
  func sleeps() {
    var gauge = SleepGauge(gap: 100)
    let verdicts = [100.001, 400, 400.002].map { gauge.hasSlept(gap: $0) }
    #expect(verdicts == [false, true, false])
  }

  // "… or it gets a network or an address that it had not." notes-protocol(7): "if it got or lost a
  // network or an address".
  @Test("a link that runs or does no more, and an address that came or went, are news")
  func networks() {
    func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
      func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value, Array.init)
      }
      let head = bytes(UInt32(16 + body.count)) + bytes(type) + [UInt8](repeating: 0, count: 10)
      return head + body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    }
    func link(_ index: UInt8, of type: UInt16 = 16, runs: Bool) -> [UInt8] {
      message(type, [0, 0, 0, 0, index, 0, 0, 0, runs ? 0x43 : 0x03, 0, 0, 0, 0, 0, 0, 0])
    }
    func address(_ last: UInt8, of type: UInt16 = 20, life: UInt8 = 0) -> [UInt8] {
      // The life is an attribute of its own, of which a part of a word is padding.
      message(
        type, [2, 24, 0, 0, 7, 0, 0, 0, 5, 0, 6, 0, life, 0, 0, 0, 8, 0, 1, 0, 10, 0, 0, last])
    }
    var state = NetworkState()
    let news = [
      link(7, runs: false), link(7, runs: true), link(7, runs: true), link(7, runs: false),
      link(7, runs: true), address(1), address(1, life: 9), address(2) + link(7, runs: true),
      address(1, of: 21), address(1), link(7, of: 17, runs: true), link(7, runs: true), [],
      [1, 2, 3], message(16, [1]), [200] + [UInt8](repeating: 0, count: 30),
    ].map { state.takes($0[...]) }
    #expect(
      news == [
        .lost, .got, .none, .lost, .got, .got, .none, .got, .lost, .got, .lost, .got, .none, .none,
        .none, .none,
      ])
  }

  // notes-protocol(7), "Sessions that go on": "If both sides opened one at the same time, the
  // connection by the side with the smaller device ID (as text) stays. But if the older connection is 3 s old
  // or more, the newer stays."
  @Test("of two connections both devices keep the same one", arguments: [("A", "B"), ("B", "A")])
  func secondConnection(own: String, other: String) throws {
    let peer = PeerIdentity(name: other, deviceID: other, role: .writer, address: "")
    for isFormerOpenedHere in [true, false] {
      for isOpenedHere in [true, false] {
        for age in [1, 20.0] {
          let table = SessionTable(ownDevice: own)
          let former = SessionHandle(
            peer: peer, isOpenedHere: isFormerOpenedHere, ends: false, wake: {})
          let link = SessionHandle(
            peer: peer, isOpenedHere: isOpenedHere, ends: false, wake: {})
          try table.begin(former)
          let opener = isOpenedHere ? own : other
          let stays = isOpenedHere == isFormerOpenedHere || opener == "A" || age > 3
          do {
            try table.begin(link, now: .now + age)
            #expect(stays && table.session(with: other) === link)
          } catch SyncError.duplicate {
            #expect(!stays && table.session(with: other) === former)
          }
        }
      }
    }
  }

  // notes-protocol(7), "Exchanging versions": "may delay this by 0.2 s while other devices also send to it".
  @Test("what was merged is told a little later where more is coming, and at once where not")
  func gathering() throws {
    let ids = try (1...4).map { try #require(ObjectID(hex: String(repeating: "\($0)", count: 40))) }
    let table = SessionTable(ownDevice: "A")
    let handles = ["B", "C"].map { name in
      SessionHandle(
        peer: PeerIdentity(name: name, deviceID: name, role: .writer, address: ""),
        isOpenedHere: true, ends: name == "C", wake: {})
    }
    for handle in handles { try table.begin(handle) }
    #expect(table.mayFetch([ids[0]], handles[0]))
    func looks() -> [Bool] { handles.map { $0.takeRequests().looks } }
    // A session that begins looks, too.
    #expect(looks() == [true, true])
    table.lookAtMerged()
    #expect(looks() == [true, true])
    #expect(table.mayFetch([ids[1]], handles[1]))
    table.lookAtMerged()
    table.lookAtMerged()
    // A session that ends counts each time.
    #expect(looks() == [false, true])
    let due = try #require(handles[0].lookDue)
    #expect(due <= .now + 0.2)
    // Somebody's own version does not wait.
    table.show(early: ids[3])
    #expect(table.early == ids[3])
    #expect(looks() == [true, true])
    #expect(handles[0].lookDue == nil)
    // The branch has moved to it.
    table.look()
    #expect(table.early == nil)
  }

  // notes-web(1), "All notebooks": "when a notebook is added or its folder is deleted", however soon after.
  @Test("a file's watch tells of a folder that went, also where it went before the watch began")
  func goneFolders() throws {
    let folder = try TemporaryFolder()
    let told = EventLog<String>()
    try makeFolder(folder["there"])
    let watches = try ["there", "gone"].map { place in
      try FileWatch("file", in: folder[place]) { told.append(place) }
    }
    defer { for watch in watches { watch.stop() } }
    #expect(told.wait { Set($0) == ["there", "gone"] }, "\(told.all)")
    try #require(rmdir(folder["there"]) == 0)
    #expect(told.wait { $0.count(where: { $0 == "there" }) == 2 }, "\(told.all)")
    #expect(told.all.count(where: { $0 == "gone" }) == 1)
  }

  // The same: Linux ends the watch of a removed folder once nobody has anything open in it.
  @Test(
    "a file's watch tells of a folder that was removed or moved while a program has a file in it open"
  )
  func heldFolders() throws {
    let folder = try TemporaryFolder()
    let told = EventLog<String>()
    for place in ["removed", "moved"] { try folder.write("", to: place + "/lock") }
    let held = ["removed", "moved"].map { open(folder[$0 + "/lock"], O_RDONLY) }
    defer { for file in held { close(file) } }
    let watches = try ["removed", "moved"].map { place in
      try FileWatch("file", in: folder[place]) { told.append(place) }
    }
    defer { for watch in watches { watch.stop() } }
    #expect(told.wait { Set($0) == ["removed", "moved"] }, "\(told.all)")
    try #require(unlink(folder["removed/lock"]) == 0 && rmdir(folder["removed"]) == 0)
    try #require(rename(folder["moved"], folder["elsewhere"]) == 0)
    #expect(
      told.wait { $0.count == 4 && Set($0.suffix(2)) == ["removed", "moved"] }, "\(told.all)")
  }

  // notes-watch(1), "Hooks".
  @Test("a hook gets what it is told, and is ended when it takes too long")
  func hooks() throws {
    let folder = try TemporaryFolder()
    let occasion = Hooks.Occasion(
      event: "change", folder: folder.path, paths: ["a b.txt", "$(x).txt"], device: "Bob's")
    let command =
      "printf '%s|' \"$NOTES_EVENT\" \"$NOTES_PATHS\" \"$NOTES_DEVICE\" >\"$NOTES_NOTEBOOK\"/out"
    let trouble = Hooks.perform(command, occasion)
    #expect(trouble == nil)
    #expect(try folder.text("out") == "change|a b.txt\n$(x).txt|Bob's|")
    #expect(Hooks.perform("exit 3", occasion) == "ended with status 3")
    #expect(Hooks.perform("sleep 60", occasion, limit: 0.1)?.hasPrefix("ended after") == true)
  }
}
