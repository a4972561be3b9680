import Channel
import Git
import GitSupport
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7), VERSIONS, "Between devices".
@Suite("Versions that a member's device sends", .timeLimit(.minutes(20)))
struct SessionAuthorityTests {
  let ada: Device
  let bob: Device
  let cleo: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    cleo = try Device("Cleo", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    // Each has signed something by now, and all know it.
    for device in [bob, cleo] {
      _ = try sync(device, ada)
      try device.write("by \(device.name)\n", to: "\(device.name).txt")
      _ = try sync(device, ada)
    }
    for device in [bob, cleo] { _ = try sync(device, ada) }
  }

  // MARK: A device that lies

  /// Whose name a version bears, and how it is signed.
  struct Forgery: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The address, and further lines of the commit, for Bob, the peer, and Cleo.
    let make: @Sendable (_ bob: Device, _ cleo: Device) throws -> (address: String, [String])
    let isTaken: Bool

    init(
      _ name: String, isTaken: Bool,
      _ make: @escaping @Sendable (Device, Device) throws -> (String, [String])
    ) {
      (testDescription, self.isTaken, self.make) = (name, isTaken, make)
    }

    static func address(_ device: Device) -> String {
      device.key.deviceID.lowercased() + "@notes.invalid"
    }

    /// A signature over something else.
    static func signature(by device: Device) throws -> [String] {
      let armored = try VersionSignature(over: Array("else".utf8), by: device.key).armored
      let lines = String(decoding: armored, as: UTF8.self).split(separator: "\n")
      return lines.enumerated().map { ($0 == 0 ? "gpgsig " : " ") + $1 }
    }
  }

  static let forgeries = [
    Forgery("another member's, unsigned", isTaken: false) { (Forgery.address($1), []) },
    Forgery("another member's, its signature over something else", isTaken: false) {
      (Forgery.address($1), try Forgery.signature(by: $1))
    },
    Forgery("another member's, signed by the peer", isTaken: false) {
      (Forgery.address($1), try Forgery.signature(by: $0))
    },
    Forgery("the peer's own, unsigned", isTaken: true) { bob, _ in (Forgery.address(bob), []) },
    Forgery("nobody's who is a member", isTaken: true) { _, _ in ("pat@example.org", []) },
  ]

  /// Shows these heads to Ada as a device, and gives the pack; what Ada answers.
  private func give(
    _ heads: [ObjectID], _ pack: HandmadePack, as device: Device
  ) throws -> (answer: AppliedMessage, served: Result<SessionResult, any Error>) {
    let context = ada.context
    let results = try withConnections(from: device, to: ada) {
      try Session.run(on: $0, as: context)
    } call: { connection in
      let stream = MessageStream(connection: connection, timeouts: .forTests)
      let script = HostileScript(stream: stream, device: device)
      try script.greet(heads: heads)
      try script.offer(pack.bytes(), heads: heads, objects: pack.count)
      while true {
        let frame = try stream.receive()
        guard frame.type == .applied else { continue }
        stream.close(.done)
        return try frame.frame.decode(AppliedMessage.self)
      }
    }
    return (try results.called.get(), results.served)
  }

  private func version(_ address: String, _ further: [String]) throws -> (ObjectID, HandmadePack) {
    var pack = HandmadePack()
    let blob = try pack.add(.blob, Array("forged\n".utf8))
    let tree = try pack.addTree([("100644", Array("forged.txt".utf8), blob)])
    let tip = try #require(try ada.tip())
    let head = try pack.addCommit(
      tree, parents: [tip], author: "author Somebody <\(address)> 1700000000 +0000",
      further: further)
    return (head, pack)
  }

  @Test(
    "a version in another member's name is taken with that one's signature alone",
    arguments: forgeries)
  func forged(forgery: Forgery) throws {
    let (address, further) = try forgery.make(bob, cleo)
    let (head, pack) = try version(address, further)
    let before = try ada.tip()
    let (answer, served) = try give([head], pack, as: bob)
    #expect(answer.refused == (forgery.isTaken ? nil : "unsigned_version"))
    #expect(ada.exists("forged.txt") == forgery.isTaken)
    if forgery.isTaken { return }
    // "It … keeps nothing that arrived with it", and both sides say so.
    #expect(try ada.tip() == before && !ada.notebook().repository.contains(head))
    #expect {
      try served.get()
    } throws: {
      if case SyncError.notMerged(.unsigned, let words) = $0 {
        words.contains("in the name of Cleo is refused")
      } else {
        false
      }
    }
    let held = try RefusedVersions(stateFolder: ada.notebook().stateFolder).all(in: ada.notebook())
    #expect(held.map(\.device) == [bob.key.deviceID])
    // "All else goes on"
    try cleo.write("more\n", to: "more.txt")
    #expect(try sync(cleo, ada).0.isInSync)
    try bob.write("honest again\n", to: "Bob.txt")
    #expect(try sync(bob, ada).0.isInSync)
    #expect(try ada.text("Bob.txt") == "honest again\n")
    #expect(
      try RefusedVersions(stateFolder: ada.notebook().stateFolder).all(in: ada.notebook()).isEmpty)
  }

  @Test("a peer that was never seen to sign passes nothing on in another member's name")
  func neverSigned() throws {
    let dora = try Device("Dora", certifiedBy: ada)
    let (head, pack) = try version(Forgery.address(cleo), [])
    #expect(try give([head], pack, as: dora).answer.refused == "unsigned_version")
    // Nor does one that signs, in the name of that one.
    let (other, otherPack) = try version(Forgery.address(dora), [])
    #expect(try give([other], otherPack, as: bob).answer.refused == "unsigned_version")
    #expect(!ada.exists("forged.txt"))
  }

  // MARK: Devices that do not

  /// Changes the last version by hand, which keeps its author and drops the signature.
  private func amend(_ device: Device) throws -> ObjectID {
    let amended = try device.git(
      "-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--amend",
      "--allow-empty", "-m", "By hand")
    #expect(amended.isSuccess, "\(amended)")
    return try #require(try device.tip())
  }

  @Test("what git makes anew of a version, its author's or another's, is answered for")
  func amended() throws {
    for author in [bob, cleo] {
      try author.write("again\n", to: "\(author.name).txt")
      try author.save()
      if author !== bob { _ = try sync(bob, author) }
      let made = try amend(bob)
      let commit = try bob.notebook().repository.commit(made)
      #expect(commit.deviceID == author.key.deviceID)
      for device in [ada, cleo] {
        let (called, _) = try sync(bob, device)
        #expect(called.isInSync)
      }
      let notebook = try ada.notebook()
      let top = try notebook.repository.commit(#require(try ada.tip()))
      #expect(top.deviceID == bob.key.deviceID && top.parents == [made])
      // Cleo has what it was made of still.
      _ = try sync(bob, ada)
      #expect(try ada.tip() == bob.tip() && cleo.tip() == bob.tip())
      // Once is enough.
      let tip = try ada.tip()
      for device in [ada, cleo] { _ = try sync(bob, device) }
      _ = try sync(cleo, ada)
      #expect(try ada.tip() == tip && cleo.tip() == tip)
    }
  }

  @Test(
    "the last version of who was removed, or became a reader, comes from who has taken it",
    arguments: [true, false])
  func withoutRight(isRemoved: Bool) throws {
    try cleo.write("the last\n", to: "last.txt")
    _ = try sync(cleo, bob)
    let membership = ada.context.membership
    if isRemoved {
      try membership.remove(devices: [cleo.key.deviceID], by: ada.key)
    } else {
      try membership.reissue(device: cleo.key.deviceID, role: .reader, by: ada.key)
    }
    // Bob learns it in the session in which he gives it.
    let (called, _) = try sync(bob, ada)
    #expect(called.isInSync)
    #expect(try ada.text("last.txt") == "the last\n" && ada.tip() == bob.tip())
  }

  @Test("what git made here in another member's name is answered for before anybody is to take it")
  func answeredFor() throws {
    let dora = try Device("Dora", certifiedBy: ada)
    let before = try #require(try bob.tip())
    let repository = try bob.notebook().repository
    let person = "Dora <\(Forgery.address(dora))> 1700000000 +0000"
    let tree = try repository.commit(before).tree
    let made = try repository.write(
      .commit,
      Array("tree \(tree)\nparent \(before)\nauthor \(person)\ncommitter \(person)\n\nx\n".utf8))
    #expect(try bob.git("update-ref", "refs/heads/main", made.hex).isSuccess)
    _ = try bob.context.membership.merge(
      certificates: ada.context.membership.certificates, revocations: [])
    #expect(try sync(bob, ada).0.isInSync)
    #expect(try ada.notebook().history.shows([made]))
    let top = try ada.notebook().repository.commit(#require(try ada.tip()))
    #expect(top.deviceID == bob.key.deviceID && top.parents == [made])
  }

  // "No device refuses an honest device"
  @Test(
    "devices that edit, rewrite by hand, and gain and lose roles are taken",
    arguments: 0..<2)
  func honest(part: Int) throws {
    var random = SplitMix64.reported()
    for _ in 0..<part { _ = random.next() }
    let dora = try Device("Dora", certifiedBy: ada)
    let devices = [ada, bob, cleo, dora]
    var (exchanges, rewrites, changes) = (0, 0, 0)
    func exchange(_ one: Device, _ other: Device) throws {
      do {
        _ = try sync(one, other)
        exchanges += 1
      } catch SyncError.notMerged(.unsigned, let words) {
        Issue.record("\(one.name), \(other.name): \(words)")
      } catch SyncError.notMergedAtPeer(.unsigned) {
        Issue.record("\(one.name), \(other.name): refused there")
      }
    }
    for step in 0..<40 {
      let device = devices[Int(random.next() % 4)]
      switch random.next() % 10 {
      case 0...2: try device.write("\(step)\n", to: "\(random.next() % 6).txt")
      case 3:
        try device.save()
        if try device.tip() != nil { _ = try amend(device) }
        rewrites += 1
      case 4:
        let other = [bob, cleo, dora][Int(random.next() % 3)]
        let membership = ada.context.membership
        let isReader = membership.role(ofDevice: other.key.deviceID) == .reader
        let role: Role = isReader ? .writer : .reader
        try membership.reissue(device: other.key.deviceID, role: role, by: ada.key)
        changes += 1
      default:
        let other = devices[Int(random.next() % 4)]
        if other !== device { try exchange(device, other) }
      }
    }
    for other in [bob, cleo, dora] {
      let membership = ada.context.membership
      guard membership.role(ofDevice: other.key.deviceID) == .reader else { continue }
      try membership.reissue(device: other.key.deviceID, role: .writer, by: ada.key)
    }
    for _ in 0..<3 { for other in [bob, cleo, dora] { try exchange(other, ada) } }
    #expect(try Set(devices.map { try $0.tip() }).count == 1)
    print("honest: \(exchanges) sessions, \(rewrites) rewrites, \(changes) changes of a role")
  }
}
