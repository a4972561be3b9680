import Git
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "Members".
@Suite("The list of members at a hub", .timeLimit(.minutes(5)))
struct HubMembersTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
  }

  private func list() throws -> String {
    try hub.git(["-C", hub.path, "rev-parse", "--verify", MemberList.reference])
  }

  // "A visit adds the hub's list to this device's."
  @Test("who joined or was removed is known to who shares the hub alone; without news it stays")
  func travels() throws {
    let before = try list()
    let cleo = try Device("Cleo", certifiedBy: ada)
    // "If the hub's list then lacks entries of this device's, … this device's list replaces it"
    let moves = try hub.moves()
    try ada.meet(hub)
    #expect(try list() != before && hub.moves() == moves)
    try bob.meet(hub)
    #expect(bob.context.membership.role(ofDevice: cleo.key.deviceID) == .writer)
    #expect(try bob.context.membership.digest() == ada.context.membership.digest())
    let after = try list()
    for device in [ada, bob, cleo] { try device.meet(hub) }
    #expect(try list() == after)
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    try ada.meet(hub)
    let tip = try hub.tip()
    try bob.write("by bob\n", to: "B.txt")
    let error = try #require(try bob.visit(hub.hub).outcome.failures.first).error
    #expect(error as? MembershipError == .removed(device: bob.key.deviceID, name: "Bob"))
    #expect(throws: MembershipError.self) { try bob.visit(hub.hub) }
    #expect(try hub.tip() == tip)
    let text = try hub.git(["-C", hub.path, "show", MemberList.reference + ":members.pem"])
    #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----") && text.contains("BEGIN X509 CRL"))
    try hub.git(["-C", hub.path, "fsck", "--strict"])
  }

  // "If the hub's list then lacks entries of this device's, … this device's list replaces it"
  @Test("the list goes there with a visit that takes versions and gives none, too")
  func withVersions() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let cleo = try Device("Cleo", certifiedBy: ada)
    let moves = try hub.moves()
    let met = try ada.meet(hub)
    #expect(met.receivedVersions == 1 && met.sentVersions == 0 && met.isInSync)
    try bob.meet(hub)
    #expect(bob.context.membership.role(ofDevice: cleo.key.deviceID) == .writer)
    #expect(try hub.moves() == moves)
  }

  // "If the root of a list is not the notebook's own, the list belongs to another notebook"
  @Test("the list of another notebook ends the visit; one that nobody can read is replaced")
  func foreign() throws {
    let other = try FolderHub()
    let eve = try Device(founding: "Eve")
    try eve.write("by Eve\n", to: "E.txt")
    try eve.meet(other)
    let refspec = "+\(MemberList.reference):\(MemberList.reference)"
    try hub.git(["-C", hub.path, "fetch", "--quiet", other.path, refspec])
    let (there, tip) = (try list(), try hub.tip())
    try ada.write("two\n", to: "A.txt")
    for _ in 0..<2 { #expect(try ada.failure(at: hub.hub) == .anotherNotebook) }
    #expect(try hub.tip() == tip && list() == there)
    #expect(try ada.visit(hub.hub) { $0.allowsUnrelated = true }.outcome.failures.isEmpty)
    #expect(try hub.tip() == ada.tip() && list() == there)
    // The branch's own commit has no such file.
    try hub.git(["-C", hub.path, "update-ref", MemberList.reference, "main"])
    try ada.write("three\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.text("A.txt") == "three\n" && list() != there)
  }

  // "... if a member that it knows as an admin has signed that root ..."
  @Test("who meets others at a hub alone is told that the membership was started over, and by whom")
  func startedOver() throws {
    let former = try list()
    let place = MembershipStore.folder(ofNotebookAt: try ada.notebook().stateFolder)
    let renewed = SessionContext(
      folder: ada.notes, key: ada.key,
      membership: try .renew(in: place, deviceName: "Ada", key: ada.key))
    // Without a new version, too.
    #expect(try renewed.visit([hub.hub]).outcome.failures.isEmpty)
    #expect(try list() != former)
    let tip = try hub.tip()
    try bob.write("by bob\n", to: "B.txt")
    for _ in 0..<2 { #expect(try bob.failure(at: hub.hub) == .startedOver(by: "Ada")) }
    #expect(try hub.tip() == tip)
    // "doctor" and "status" say so until it joins again.
    let (state, own) = (try bob.notebook().stateFolder, bob.context.membership.notebookID)
    #expect(StartedOver(in: state, of: own)?.admin == "Ada")
    #expect(StartedOver(in: state, of: renewed.membership.notebookID) == nil)
    // A stranger's root that says the same proves nothing.
    let eve = try Device(founding: "Eve")
    try eve.meet(FolderHub())
    #expect(
      try MemberList(of: eve.context.membership).relation(to: bob.context.membership) == .foreign)
  }

  // "... if it is still the list that the visit saw"
  @Test("the lists of two devices that visit at once are both kept")
  func atOnce() throws {
    let dora = try Device("Dora", certifiedBy: ada, as: .admin)
    try dora.meet(hub)
    let (cleo, eve) = try (Device("Cleo", certifiedBy: ada), Device("Eve", certifiedBy: dora))
    try ada.write("two\n", to: "A.txt")
    let visit = try HubVisit(
      to: hub.hub, from: ada.notebook(), DirectKeeper(ada.context, SessionOptions()),
      by: GitProgram(), as: ada.context)
    // A visit that has looked, and not given yet.
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    visit.meanwhile = { [hub] in
      let moved = try dora.meet(hub)
      #expect(moved.isInSync)
    }
    #expect(try visit.run().isInSync)
    for (device, other) in [(ada, eve), (bob, cleo), (bob, eve)] {
      try device.meet(hub)
      #expect(device.context.membership.role(ofDevice: other.key.deviceID) == .writer)
    }
  }

  // "A host that accepts no such reference can still be a hub"
  @Test("a host that refuses the list takes the notes")
  func refused() throws {
    try hub.make()
    try hub.git(["-C", hub.path, "update-ref", "-d", MemberList.reference])
    try hub.git(["-C", hub.path, "config", "receive.hideRefs", MemberList.folder])
    try ada.write("two\n", to: "A.txt")
    #expect(try ada.meet(hub).sentVersions == 1)
    try bob.meet(hub)
    #expect(try bob.text("A.txt") == "two\n")
    #expect(try ada.meet(hub).sentVersions == 0)
  }

  private func learnsOfItsRemoval(_ location: SourceLocation = #_sourceLocation) throws {
    let error = try #require(try bob.visit(hub.hub).outcome.failures.first).error
    #expect(
      error as? MembershipError == .removed(device: bob.key.deviceID, name: "Bob"),
      sourceLocation: location)
  }

  // "If no member of the notebook vouches for a version, … the device … sends only its list of members"
  @Test func `A removed device that was faster is told, and its versions are not taken`() throws {
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
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
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try hub.git(["-C", hub.path, "update-ref", "-d", MemberList.reference])
    #expect(try ada.refusal(at: hub) == .unsigned)
    try learnsOfItsRemoval()
  }

  @Test func `Versions of nobody do not stop the list, either`() throws {
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    let pat = try hub.clone(as: "pat")
    try pat.commit("from pat\n", to: "pat.txt")
    try pat.git("push", "--quiet")
    #expect(try ada.refusal(at: hub) == .unsigned)
    try learnsOfItsRemoval()
  }
}
