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

  /// "an admin's device that meets the other history joins both"
  @Test(
    "two admins at once: one joins both histories, and all end with it", arguments: [true, false])
  func atOnce(isCalling: Bool) throws {
    let eve = try Device("Eve", certifiedBy: ada, as: .admin)
    _ = try sync(eve, ada)
    try ada.write("key \(Self.secret)\nmore bananas and \(Self.secret)\nof Ada\n", to: "Wifi.txt")
    _ = try sync(ada, bob)
    _ = try sync(eve, ada)
    try forget()
    try forget("bananas", on: eve)
    try bob.write("only bob has \(Self.secret) and bananas\n", to: "Mine.txt")
    _ = try bob.context.notebook().save()
    try eve.write("of Eve\n", to: "Eve.txt")
    try ada.write("of Ada\n", to: "Ada.txt")
    for _ in 0..<2 { _ = isCalling ? try sync(eve, ada) : try sync(ada, eve) }
    #expect(try eve.tip() == ada.tip())
    _ = try sync(bob, eve)
    _ = try sync(ada, bob)
    for device in [ada, bob, eve] {
      #expect(try places(on: device) == [] && places("bananas", on: device) == [], "\(device.name)")
      #expect(
        try device.text("Wifi.txt")
          == "key [forgotten]\nmore [forgotten] and [forgotten]\nof Ada\n", "\(device.name)")
      #expect(try device.text("Eve.txt") == "of Eve\n" && device.text("Ada.txt") == "of Ada\n")
      #expect(try device.notebook().history.obeyed()?.lines.count == 2)
    }
    #expect(try ada.text("Mine.txt") == "only bob has [forgotten] and [forgotten]\n")
    #expect(try ada.tip() == bob.tip())
    let log = try ada.git("log", "--format=%an %s").text
    #expect(
      log.split(separator: "\n").count(where: { $0.hasSuffix("Forget a text") }) <= 2, "\(log)")
  }

  @Test(
    "devices that followed two admins who did not know of each other go on apart until one joins both"
  )
  func apart() throws {
    let eve = try Device("Eve", certifiedBy: ada, as: .admin)
    let cleo = try Device("Cleo", certifiedBy: ada)
    for device in [eve, cleo] { _ = try sync(device, ada) }
    try forget()
    try forget("more", on: eve)
    _ = try sync(bob, ada)
    _ = try sync(cleo, eve)
    let tips = try (bob.tip(), cleo.tip())
    do {
      _ = try sync(bob, cleo)
      Issue.record("they exchanged something")
    } catch SyncError.notMerged(.forgotten, _) {}
    #expect(try (bob.tip(), cleo.tip()) == tips)
    let notebook = try bob.notebook()
    #expect(try RefusedVersions(stateFolder: notebook.stateFolder).all(in: notebook).count == 1)
    // Ada meets who followed Eve, and need not meet Eve.
    try cleo.write("of Cleo\n", to: "Cleo.txt")
    _ = try sync(cleo, ada)
    for _ in 0..<2 { for device in [eve, bob, cleo] { _ = try sync(device, ada) } }
    for device in [ada, bob, cleo, eve] {
      #expect(try device.tip() == ada.tip(), "\(device.name)")
      #expect(try places(on: device) == [], "\(device.name)")
      #expect(try device.text("Wifi.txt") == "key [forgotten]\n[forgotten]\n", "\(device.name)")
      #expect(try device.text("Cleo.txt") == "of Cleo\n")
    }
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
