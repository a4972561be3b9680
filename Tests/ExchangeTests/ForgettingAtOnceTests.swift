import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-forget(1), "Other devices": two admins had different things removed, and no device of one has heard of the
/// other. They meet at hubs and in bundles alone, while other devices write there or join.
@Suite("Two admins who forget at once, over hubs and bundles", .timeLimit(.minutes(20)))
struct ForgettingAtOnceTests {
  private static let secrets = ["hunter2-pass-9f", "bananas of eve"]
  let hub: FolderHub
  let ada: Device
  let eve: Device
  let bob: Device
  let cleo: Device

  init() throws {
    hub = try FolderHub()
    try hub.lets(true)
    ada = try Device(founding: "Ada")
    eve = try Device("Eve", certifiedBy: ada, as: .admin)
    bob = try Device("Bob", certifiedBy: ada)
    cleo = try Device("Cleo", certifiedBy: ada)
    try ada.write("milk\n", to: "List.txt")
    _ = try ada.notebook().save()
    try ada.write("key \(Self.secrets[0])\nand \(Self.secrets[1])!\nmore\n", to: "Wifi.txt")
    _ = try ada.notebook().save()
  }

  /// Ada and Eve, who have the same, each have something else forgotten.
  private func forgetBoth() throws {
    for (device, text) in zip([ada, eve], Self.secrets) {
      try device.write("of \(device.name)\n", to: "\(device.name).txt")
      _ = try device.context.notebook().forget(.text(Array(text.utf8)))
    }
  }

  private func meetHub(_ devices: [Device]) throws {
    for device in devices {
      if try device.notebook().hubs().isEmpty { try device.notebook().add(hub.hub) }
      try device.meet(hub)
    }
  }

  /// All show the same, nothing forgotten is left on them, and what was written besides is there.
  private func expectAlike(
    _ devices: [Device], with files: [String: String] = [:],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let expected = files.merging([
      "Wifi.txt": "key [forgotten]\nand [forgotten]!\nmore\n", "Ada.txt": "of Ada\n",
      "Eve.txt": "of Eve\n", "List.txt": "milk\n",
    ]) { first, _ in first }
    for device in devices {
      #expect(try device.tip() == ada.tip(), "\(device.name)", sourceLocation: location)
      for text in Self.secrets {
        let places = try Leftovers(in: device.notes).places(of: text)
        #expect(places == [], "\(device.name)", sourceLocation: location)
      }
      for (name, text) in expected {
        #expect(try device.text(name) == text, "\(device.name): \(name)", sourceLocation: location)
      }
      let obeyed = try device.notebook().history.obeyed()
      #expect(obeyed?.lines.count == 2, "\(device.name)", sourceLocation: location)
      #expect(try device.git("fsck", "--strict").isSuccess, sourceLocation: location)
    }
  }

  private func expectAtHub(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(try hub.tip() == ada.tip(), sourceLocation: location)
    for text in Self.secrets { #expect(try !hub.reaches(text), sourceLocation: location) }
  }

  @Test("whoever of the two visits the hub later joins both, and all others follow")
  func hubs() throws {
    try meetHub([ada, eve, bob, cleo])
    try bob.write("of Bob with \(Self.secrets[0]) and \(Self.secrets[1])\n", to: "Bob.txt")
    try forgetBoth()
    try meetHub([ada, eve, ada, bob, cleo, eve, ada])
    let mine = ["Bob.txt": "of Bob with [forgotten] and [forgotten]\n"]
    try expectAlike([ada, eve, bob, cleo], with: mine)
    try expectAtHub()
    let moves = try hub.moves()
    try meetHub([ada, eve, bob, cleo])
    #expect(try hub.moves() == moves)
  }

  @Test("by bundles: each admin joins what the other's has, and both come to the same")
  func bundles() throws {
    for device in [eve, bob, cleo] { _ = try sync(device, ada) }
    try bob.write("of Bob with \(Self.secrets[0]) and \(Self.secrets[1])\n", to: "Bob.txt")
    try forgetBoth()
    let (first, second, both) = (hub.folder["ada"], hub.folder["eve"], hub.folder["both"])
    try ada.writeBundle(first)
    try eve.writeBundle(second)
    try cleo.apply(second)
    let tip = try cleo.tip()
    do {
      try cleo.apply(first)
      Issue.record("a writer joined both")
    } catch SyncError.notMerged(.forgotten, _) {}
    #expect(try cleo.tip() == tip)
    try ada.apply(second)
    try eve.apply(first)
    let obeyed = try [ada, eve].map { try $0.notebook().history.obeyed()?.forgettings }
    #expect(obeyed[0]?.count == 2 && obeyed[0] == obeyed[1])
    try eve.writeBundle(both)
    for device in [ada, bob, cleo] { try device.apply(both) }
    for device in [eve, bob, cleo] { _ = try sync(device, ada) }
    for device in [eve, cleo] { _ = try sync(device, ada) }
    let mine = ["Bob.txt": "of Bob with [forgotten] and [forgotten]\n"]
    try expectAlike([ada, eve, bob, cleo], with: mine)
  }

  // MARK: Devices that join meanwhile

  @Test("a device that joins over a hub while its branch is replaced moves over, with its notes")
  func joins() throws {
    try meetHub([ada, eve])
    let dan = try Device("Dan", certifiedBy: ada)
    try dan.write("of Dan with \(Self.secrets[0])\n", to: "Dan.txt")
    try forgetBoth()
    let keeper = DirectKeeper(dan.context)
    let visit = try HubVisit(
      to: hub.hub, from: dan.context.notebook(), keeper, by: GitProgram(), as: dan.context)
    _ = try dan.context.notebook().save()
    visit.meanwhile = { [ada, hub] in try ada.meet(hub) }
    _ = try visit.run()
    #expect(try dan.notebook().history.obeyed()?.lines.count == 1)
    #expect(try dan.text("Dan.txt") == "of Dan with [forgotten]\n")
    try meetHub([eve, dan, ada, bob, cleo, eve, dan, ada])
    try expectAlike(
      [ada, eve, bob, cleo, dan], with: ["Dan.txt": "of Dan with [forgotten]\n"])
    try expectAtHub()
  }

  @Test("a device that joined one of two histories is in both once they are joined")
  func joinsApart() throws {
    _ = try sync(eve, ada)
    try forgetBoth()
    let dan = try Device("Dan", certifiedBy: ada)
    try dan.write("of Dan\n", to: "Dan.txt")
    _ = try sync(dan, eve)
    #expect(try dan.notebook().history.obeyed()?.lines.count == 1)
    _ = try sync(dan, ada)
    for device in [eve, bob, cleo, dan, eve] { _ = try sync(device, ada) }
    for device in [bob, cleo, dan, eve] { _ = try sync(device, ada) }
    try expectAlike([ada, eve, bob, cleo, dan], with: ["Dan.txt": "of Dan\n"])
  }
}
