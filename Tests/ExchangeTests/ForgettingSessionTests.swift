import Channel
import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-protocol(7), "Forgetting": what one device had forgotten goes from the others.
@Suite("Sessions after something was forgotten", .timeLimit(.minutes(20)))
struct ForgettingSessionTests {
  private static let secret = "hunter2-pass-9f"
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("milk\n", to: "List.txt")
    _ = try ada.context.notebook().save()
    try ada.write("key \(Self.secret)\nmore\n", to: "Wifi.txt")
    _ = try sync(bob, ada)
  }

  @discardableResult
  private func forget(_ text: String = secret, on device: Device? = nil) throws -> Forgotten {
    try (device ?? ada).context.notebook().forget(.text(Array(text.utf8)))
  }

  private func places(_ text: String = secret, on device: Device) throws -> [String] {
    try Leftovers(in: device.notes).places(of: text)
  }

  @Test(
    "the other device moves over and gives what it wrote, whoever calls", arguments: [true, false])
  func moves(isCalling: Bool) throws {
    try bob.write("key \(Self.secret)\nmore\nof Bob\n", to: "Wifi.txt")
    try bob.write("bread\n", to: "Mine.txt")
    _ = try bob.context.notebook().save()
    try forget()
    let old = try #require(try bob.tip())
    _ = isCalling ? try sync(bob, ada) : try sync(ada, bob)
    for device in [ada, bob] {
      #expect(try places(on: device) == [], "\(device.name)")
      #expect(try device.text("Wifi.txt") == "key [forgotten]\nmore\nof Bob\n", "\(device.name)")
      #expect(try device.text("Mine.txt") == "bread\n", "\(device.name)")
    }
    #expect(try bob.tip() == ada.tip())
    #expect(try !ada.notebook().repository.contains(old))
    #expect(try bob.notebook().history.obeyed() == ada.notebook().history.obeyed())
    try bob.write("later\n", to: "Mine.txt")
    _ = try sync(ada, bob)
    #expect(try ada.text("Mine.txt") == "later\n")
  }

  @Test("it spreads from device to device, and a new one gets what there is")
  func spreads() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    _ = try sync(cleo, bob)
    try cleo.write("of Cleo with \(Self.secret)\n", to: "Theirs.txt")
    try forget()
    _ = try sync(bob, ada)
    _ = try sync(cleo, bob)
    #expect(try places(on: cleo) == [] && places(on: bob) == [])
    let dan = try Device("Dan", certifiedBy: ada)
    _ = try sync(dan, cleo)
    #expect(try dan.text("Theirs.txt") == "of Cleo with [forgotten]\n")
    #expect(try dan.notebook().history.obeyed() != nil)
    _ = try sync(dan, ada)
    #expect(try ada.tip() == dan.tip())
  }

  @Test("a writer's forgetting changes nothing on others")
  func writer() throws {
    try forget(on: bob)
    let tip = try ada.tip()
    for _ in 0..<2 {
      #expect(throws: SyncError.self) { try sync(ada, bob) }
      #expect(try ada.tip() == tip)
    }
    #expect(try ada.text("Wifi.txt").contains(Self.secret))
    #expect(try ada.notebook().history.obeyed() == nil)
  }

  @Test("two admins at once: neither takes what the other has, and both say so")
  func atOnce() throws {
    let eve = try Device("Eve", certifiedBy: ada, as: .admin)
    _ = try sync(eve, ada)
    try forget()
    try forget("more", on: eve)
    let tips = try (ada.tip(), eve.tip())
    do {
      _ = try sync(eve, ada)
      Issue.record("they exchanged something")
    } catch SyncError.notMerged(.forgotten, _) {}
    #expect(try (ada.tip(), eve.tip()) == tips)
    let notebook = try eve.notebook()
    #expect(try HeldVersions(stateFolder: notebook.stateFolder).all(in: notebook).count == 1)
  }

  @Test("a device of an older program is told to update, and is given nothing")
  func oldProgram() throws {
    try forget()
    let bob = bob
    let results = try withConnections(from: bob, to: ada) { [context = ada.context] in
      try Session.run(on: $0, as: context)
    } call: { connection -> [Int] in
      let stream = MessageStream(connection: connection, timeouts: .forTests)
      try stream.send(
        HelloMessage(
          versions: [1], notebook: bob.context.membership.notebookID, device: bob.key.deviceID,
          name: "Bob", mode: .both, takes: true, tip: nil, heads: [], notes: 0, membership: ""))
      let hello = try stream.receive(HelloMessage.self)
      do {
        _ = try stream.receive(HeadsMessage.self)
        Issue.record("the session went on")
      } catch SyncError.peerEnded(let reason, _) {
        #expect(reason == .version)
      }
      return hello.versions
    }
    #expect(try results.called.get() == [2])
    #expect(throws: SyncError.self) { try results.served.get() }
  }

  @Test("one that is removed gets nothing, and moves nobody")
  func removed() throws {
    let eve = try Device("Eve", certifiedBy: ada, as: .admin)
    _ = try sync(eve, ada)
    try forget(on: eve)
    try ada.context.membership.remove(devices: [eve.key.deviceID], by: ada.key)
    let tip = try ada.tip()
    #expect(throws: (any Error).self) { try sync(eve, ada) }
    // Bob followed before he heard of it; Ada, who did not, does not follow him.
    _ = try sync(bob, eve)
    #expect(try places(on: bob) == [])
    #expect(throws: SyncError.self) { try sync(bob, ada) }
    #expect(try ada.tip() == tip)
  }
}
