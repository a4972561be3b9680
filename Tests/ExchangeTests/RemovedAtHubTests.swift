import Git
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "A hub with versions of a removed device".
@Suite("A hub with versions of a removed device", .timeLimit(.minutes(5)))
struct RemovedAtHubTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device
  let cleo: Device

  init() throws {
    hub = try FolderHub()
    try hub.git(["-C", hub.path, "config", "receive.denyNonFastForwards", "false"])
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    cleo = try Device("Cleo", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    for device in [ada, bob, cleo] { try device.meet(hub) }
  }

  private func remove(_ device: Device) throws {
    try ada.context.membership.remove(devices: [device.key.deviceID], by: ada.key)
  }

  private func leftOut(_ events: [Event]) -> [String] {
    events.compactMap {
      if case .leftOut(_, let names, let versions) = $0 { "\(names) \(versions)" } else { nil }
    }
  }

  // "The device keeps none of these, … and replaces the hub's branch"
  @Test func `A removal arrives although the removed device was faster`() throws {
    try remove(bob)
    for text in ["by bob\n", "by bob again\n"] {
      try bob.write(text, to: "B.txt")
      try bob.meet(hub)
    }
    try ada.write("two\n", to: "A.txt")
    let (outcome, events) = try ada.visit(hub.hub)
    #expect(outcome.failures.isEmpty && leftOut(events) == [#"["Bob"] 2"#])
    #expect(try hub.tip() == ada.tip() && !ada.exists("B.txt"))
    // The removed device learns it, and keeps what it wrote.
    let error = try #require(try bob.visit(hub.hub).outcome.failures.first).error
    #expect(error as? MembershipError == .removed(device: bob.key.deviceID, name: "Bob"))
    #expect(try bob.text("B.txt") == "by bob again\n")
    try cleo.meet(hub)
    #expect(try cleo.text("A.txt") == "two\n" && cleo.tip() == ada.tip())
    try hub.git(["-C", hub.path, "fsck", "--strict"])
  }

  // "and accepts the versions below them"
  @Test func `Versions below those of a removed device arrive`() throws {
    try cleo.write("by cleo\n", to: "C.txt")
    try cleo.meet(hub)
    try bob.meet(hub)
    try remove(bob)
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.write("two\n", to: "A.txt")
    #expect(try leftOut(ada.visit(hub.hub).events) == [#"["Bob"] 1"#])
    #expect(try ada.text("C.txt") == "by cleo\n" && !ada.exists("B.txt"))
    #expect(try hub.tip() == ada.tip())
    for device in [cleo, ada] { try device.meet(hub) }
    #expect(try cleo.tip() == ada.tip() && cleo.text("A.txt") == "two\n")
  }

  // "A member that had merged them before it learned of the removal vouches for them, and sends them again"
  @Test func `A member that had them before vouches for them, and nobody is stuck`() throws {
    try remove(bob)
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try cleo.meet(hub)
    #expect(try leftOut(ada.visit(hub.hub).events) == [#"["Bob"] 1"#])
    for device in [cleo, ada, cleo, ada] { try device.meet(hub) }
    #expect(try ada.text("B.txt") == "by bob\n" && ada.tip() == cleo.tip())
    #expect(try hub.tip() == ada.tip())
  }

  @Test func `A hub that only lets its branch move forward gets the list of members`() throws {
    try hub.git(["-C", hub.path, "config", "receive.denyNonFastForwards", "true"])
    try remove(bob)
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let tip = try hub.tip()
    #expect(try ada.failure(at: hub.hub) != nil)
    #expect(try hub.tip() == tip && !ada.exists("B.txt"))
    #expect(try !bob.visit(hub.hub).outcome.failures.isEmpty)
    #expect(bob.context.membership.role(ofDevice: bob.key.deviceID) == nil)
  }

  // "If no member of the notebook vouches for a version, … the device sends its list of members"
  @Test func `A refused version does not stop the list of members`() throws {
    let pat = try hub.clone(as: "pat")
    try pat.commit("from pat\n", to: "pat.txt")
    try pat.git("push", "--quiet")
    try remove(bob)
    #expect(try ada.refusal(at: hub) == .unsigned)
    #expect(try !bob.visit(hub.hub).outcome.failures.isEmpty)
    #expect(bob.context.membership.role(ofDevice: bob.key.deviceID) == nil)
  }
}
