import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7): devices that never meet but at a git repository.
@Suite("Devices that meet at a hub", .timeLimit(.minutes(20)))
struct HubTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub(acceptsUnsigned: true)
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
  }

  // "If both have the same version, one connection is enough, and nothing is pushed."
  @Test("what one leaves there the other takes, and without news nothing moves")
  func twoDevices() throws {
    let first = try ada.meet(hub)
    #expect(first.sentVersions == 1 && first.receivedVersions == 0 && first.isInSync)
    let second = try bob.meet(hub)
    #expect(second.sentVersions == 0 && second.receivedVersions == 1 && second.isInSync)
    #expect(try bob.text("A.txt") == "one\n")
    try bob.write("one\ntwo\n", to: "A.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    #expect(try ada.text("A.txt") == "one\ntwo\n")
    #expect(try hub.tip() == ada.tip() && hub.tip() == bob.tip())
    let moves = try hub.moves()
    for device in [ada, bob, ada, bob] {
      let idle = try device.meet(hub)
      #expect(idle.sentVersions == 0 && idle.receivedVersions == 0 && idle.isInSync)
    }
    #expect(try hub.moves() == moves)
    #expect(try ada.git("fsck", "--strict").isSuccess)
    #expect(try ada.git("rev-parse", "refs/remotes/hub/main").text == "\(ada.tip()!)\n")
    try hub.git(["-C", hub.path, "fsck", "--strict"])
  }

  // "An edit costs one, too, while nobody else wrote there."
  @Test("an edit goes there in one connection, on the condition that all is there as it was")
  func unseen() throws {
    for device in [ada, bob] { try device.meet(hub) }
    let log = ada.folder["log"]
    let program = ada.folder["program"]
    let script = """
      #!/bin/sh
      for word; do case $word in push|fetch) echo $word >>'\(log)';; esac; done
      exec git "$@"

      """
    try writeFile(program, Array(script.utf8))
    chmod(program, 0o755)
    /// The connections of a visit by Ada.
    func connections() throws -> [String] {
      try writeFile(log, [])
      let outcome = try ada.visit(hub.hub) { $0.program.name = program }.outcome
      #expect(outcome.failures.isEmpty)
      #expect(try hub.tip() == ada.tip())
      return String(decoding: try readFile(log), as: UTF8.self).split(separator: "\n").map(
        String.init)
    }
    #expect(try connections() == ["fetch"])
    try ada.write("two\n", to: "A.txt")
    #expect(try connections() == ["push"])
    #expect(try connections() == ["fetch"])
    // Somebody was there meanwhile.
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.write("three\n", to: "A.txt")
    #expect(try connections() == ["push", "fetch", "push"])
    #expect(try ada.text("B.txt") == "by bob\n")
    // The list of members says something else: what it says is known before anything is given.
    let cleo = try Device("Cleo", certifiedBy: ada)
    try cleo.meet(hub)
    try ada.write("four\n", to: "A.txt")
    #expect(try connections() == ["push"])
    try ada.context.membership.reissue(device: cleo.key.deviceID, role: .reader, by: ada.key)
    try ada.write("five\n", to: "A.txt")
    #expect(try connections() == ["push", "fetch", "push"])
    try bob.write("more by bob\n", to: "B.txt")
    #expect(try bob.meet(hub).receivedVersions > 0)
    #expect(bob.context.membership.role(ofDevice: cleo.key.deviceID) == .reader)
  }

  // "Who may not push there may fetch."
  @Test("a hub that takes nothing gives what it has, and is told of")
  func readOnly() throws {
    for device in [ada, bob] { try device.meet(hub) }
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try hub.git(["-C", hub.path, "config", "receive.hideRefs", "refs/heads"])
    for text in ["two\n", "three\n"] {
      try ada.write(text, to: "A.txt")
      let error = try ada.failure(at: hub.hub)
      let isRefused = error.map { if case .refused = $0 { true } else { false } }
      #expect(isRefused == true, "\(error as Any)")
      #expect(try ada.text("B.txt") == "by bob\n")
    }
    try hub.git(["-C", hub.path, "config", "--unset", "receive.hideRefs"])
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.text("A.txt") == "three\n")
  }

  // notes-merge(7), "Hubs": "The branch of a hub only moves forward".
  @Test("edits apart are merged, and the branch leads forward over an older merge")
  func forward() throws {
    try ada.meet(hub)
    try bob.meet(hub)
    try ada.write("ada\n", to: "ada.txt")
    try bob.write("bob\n", to: "bob.txt")
    // Ada's version lies there; Bob's tip is a derived merge of both, which he pushes.
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try hub.tip() == bob.tip() && hub.hubMerges() == 0)
    // Ada goes on from her own version: her tip does not descend from that merge.
    try ada.write("ada again\n", to: "ada.txt")
    let met = try ada.meet(hub)
    #expect(met.isInSync && met.peerTip == met.tip)
    #expect(try hub.hubMerges() == 1)
    #expect(try hub.tip() == ada.tip())
    try bob.meet(hub)
    #expect(try bob.tip() == ada.tip())
    #expect(try bob.text("ada.txt") == "ada again\n")
    // "As nobody wrote it, logs pass over it."
    let notebook = try bob.notebook()
    #expect(try notebook.history.version(of: notebook.repository.commit(hub.tip()!)).isDerived)
    for device in [ada, bob, ada] { try device.meet(hub) }
    #expect(try hub.hubMerges() == 1)
  }

  @Test("a conflict is carried on by what leads the branch forward, and is resolved elsewhere")
  func conflict() throws {
    try ada.meet(hub)
    try bob.meet(hub)
    try ada.write("one by Ada\n", to: "A.txt")
    try bob.write("one by Bob\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.notebook().state().conflictCount == 1)
    try ada.write("more\n", to: "B.txt")
    try ada.meet(hub)
    #expect(try hub.hubMerges() == 1)
    #expect(try ada.notebook().state().conflictCount == 1)
    try bob.meet(hub)
    #expect(try bob.tip() == ada.tip())
    #expect(try bob.text("A.txt").contains("one by Ada"))
    try bob.write("one by both\n", to: "A.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    #expect(try ada.notebook().state().conflictCount == 0)
    #expect(try ada.text("A.txt") == "one by both\n")
  }

  // "If another device was faster, the visit begins again"
  @Test("four that push at once all come through")
  func race() throws {
    let devices = try [ada, bob] + ["Cleo", "Dora"].map { try Device($0, certifiedBy: ada) }
    for device in devices { try device.meet(hub) }
    for round in 0..<3 {
      for device in devices { try device.write("\(round)\n", to: "\(device.name)-\(round).txt") }
      for box in devices.map({ $0.context.startVisit(hub.hub) }) {
        let outcome = try #require(box.take(until: .now + 120)).get()
        #expect(outcome.failures.map { "\($0.error)" } == [])
      }
    }
    for device in devices { try device.meet(hub) }
    #expect(try Set(devices.map { try $0.tip() }) == [hub.tip()])
    for device in devices { #expect(device.exists("Dora-2.txt") && device.exists("Ada-0.txt")) }
  }

  @Test("eight devices that meet at random: versions that lead forward stay few, and none at rest")
  func crowd() throws {
    var random = SplitMix64.reported()
    let devices = try [ada, bob] + (0..<6).map { try Device("D\($0)", certifiedBy: ada) }
    for device in devices { try device.meet(hub) }
    var edits = 0
    for step in 0..<40 {
      let device = devices[Int(random.next() % 8)]
      if random.next() % 3 > 0 {
        edits += 1
        try device.write("\(step)\n", to: "\(random.next() % 12).txt")
      }
      if random.next() % 2 == 0 { try device.meet(hub) }
    }
    for _ in 0..<2 { for device in devices { try device.meet(hub) } }
    #expect(try Set(devices.map { try $0.tip() }) == [hub.tip()])
    let (merges, moves) = (try hub.hubMerges(), try hub.moves())
    print("eight devices, one hub: \(edits) edits, \(moves) pushes, \(merges) lead forward")
    #expect(merges <= edits)
    for device in devices { try device.meet(hub) }
    #expect(try hub.moves() == moves)
  }

  @Test("two hubs at once, one of which the other device does not know")
  func twoHubs() throws {
    let other = try FolderHub()
    let second = Hub(name: "second", url: other.path)
    try ada.meet(hub)
    try bob.meet(hub)
    try bob.write("two\n", to: "B.txt")
    _ = try bob.visit(second)
    #expect(try ada.visit(hub.hub, second).outcome.sessions.count == 2)
    #expect(try ada.text("B.txt") == "two\n")
    try ada.meet(hub)
    #expect(try hub.tip() == other.tip() && hub.tip() == bob.tip())
  }

  // "A reader fetches and sends nothing … A removed device does neither"
  @Test("a reader takes and gives nothing; who was removed does neither")
  func roles() throws {
    let cleo = try Device("Cleo", certifiedBy: ada, as: .reader)
    try ada.meet(hub)
    #expect(try cleo.meet(hub).receivedVersions == 1)
    try cleo.write("by a reader\n", to: "cleo.txt")
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    let met = try cleo.meet(hub)
    #expect(met.receivedVersions == 1 && met.sentVersions == 0)
    #expect(try hub.tip() == ada.tip())
    #expect(try cleo.text("A.txt") == "two\n")
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    _ = try bob.context.membership.merge(
      certificates: ada.context.membership.certificates,
      revocations: ada.context.membership.revocations)
    #expect(throws: (any Error).self) { try bob.visit(hub.hub) }
  }

  @Test("who uses git alone commits, rebases and merges beside")
  func gitPerson() throws {
    try ada.meet(hub)
    try bob.meet(hub)
    let pat = try hub.clone(as: "pat")
    try pat.commit("from pat\n", to: "pat.txt")
    try ada.write("one\nmore\n", to: "A.txt")
    try ada.meet(hub)
    // "they may rebase commits that they have not pushed yet"
    try pat.git("pull", "--quiet", "--rebase")
    try pat.git("push", "--quiet")
    // Only an admin takes it, and answers for it to the others.
    #expect(try bob.refusal(at: hub) == .unsigned)
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.text("pat.txt") == "from pat\n" && bob.text("A.txt") == "one\nmore\n")
    // A merge by hand, a tag, and a branch of pat's own.
    try pat.commit("from pat, too\n", to: "pat.txt")
    try bob.write("from bob\n", to: "bob.txt")
    try bob.meet(hub)
    try pat.git("pull", "--quiet", "--no-rebase", "--no-edit")
    try pat.git("tag", "-m", "a tag", "v1")
    try pat.git("push", "--quiet", "origin", "main", "v1", "HEAD:refs/heads/side")
    for device in [ada, bob, ada] { try device.meet(hub) }
    #expect(try hub.tip() == ada.tip() && hub.tip() == bob.tip())
    #expect(try ada.text("pat.txt") == "from pat, too\n")
    // "Devices leave other branches and tags alone."
    #expect(try ada.git("tag").text.isEmpty)
    #expect(try ada.git("rev-parse", "-q", "--verify", "refs/remotes/hub/side").text.isEmpty)
    try pat.git("fetch", "--quiet", "origin", "v1", "side")
    try pat.git("pull", "--quiet", "--ff-only")
    #expect(try pat.git("log", "-1", "--format=%H") == "\(ada.tip()!)")
  }
}
