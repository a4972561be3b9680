import Git
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "A visit": "If no member of the notebook vouches for a version, … the device … sends only its list
/// of members".
@Suite("The list of members at a hub whose versions are refused", .timeLimit(.minutes(5)))
struct RemovedAtHubTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    for device in [ada, bob] { try device.meet(hub) }
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
  }

  private func learnsOfItsRemoval(_ location: SourceLocation = #_sourceLocation) throws {
    let error = try #require(try bob.visit(hub.hub).outcome.failures.first).error
    #expect(
      error as? MembershipError == .removed(device: bob.key.deviceID, name: "Bob"),
      sourceLocation: location)
  }

  @Test func `A removed device that was faster is told, and its versions are not taken`() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let tip = try hub.tip()
    #expect(try ada.refusal(at: hub) == .unsigned)
    #expect(try hub.tip() == tip && !ada.exists("B.txt"))
    try learnsOfItsRemoval()
    // One admin may take them all the same.
    _ = try ada.visit(hub.hub) { $0.options.allowsUnsigned = true }
    #expect(try ada.text("B.txt") == "by bob\n" && hub.tip() == ada.tip())
  }

  @Test func `The list of members goes to a hub whose list is gone`() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try hub.git(["-C", hub.path, "update-ref", "-d", MemberList.reference])
    #expect(try ada.refusal(at: hub) == .unsigned)
    try learnsOfItsRemoval()
  }

  @Test func `Versions of nobody do not stop the list, either`() throws {
    let pat = try hub.clone(as: "pat")
    try pat.commit("from pat\n", to: "pat.txt")
    try pat.git("push", "--quiet")
    #expect(try ada.refusal(at: hub) == .unsigned)
    try learnsOfItsRemoval()
  }
}
