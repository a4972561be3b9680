import Git
import History
import Membership
import Notebook
import State
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "A hub that shows two histories".
@Suite("A hub that shows two histories")
struct HubSightingsTests {
  let ada: Device
  let bob: Device
  let hub = Hub(name: "hub", url: "git@hub.example:home.git")
  let same = Hub(name: "origin", url: "https://Hub.example/home/")

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("a\n", to: "a.txt")
    _ = try sync(ada, bob)
  }

  /// A version that this device makes.
  private func version(_ device: Device, _ text: String) throws -> ObjectID {
    try device.write(text, to: "\(text.prefix(1)).txt")
    _ = try device.notebook().save()
    return try #require(try device.notebook().state().tip)
  }

  private func saw(
    _ device: Device, _ hub: Hub, _ tip: ObjectID, ago: Int64 = 0, branch: String = "main"
  ) throws {
    let notebook = try device.notebook()
    try HubSightings(of: notebook).record(
      hub, branch: branch, tip: tip, notebook: notebook.identity.id, now: WallClock.now() - ago)
  }

  private func found(_ device: Device) throws -> [HubSightings.Difference] {
    let notebook = try device.notebook()
    return try HubSightings(of: notebook).differences(in: notebook)
  }

  @Test("is found when two members meet that it showed one each, on both sides")
  func meeting() throws {
    let ours = try version(ada, "1 of ada\n")
    let theirs = try version(bob, "2 of bob\n")
    try saw(ada, hub, ours)
    try saw(bob, same, theirs)
    #expect(try found(ada).isEmpty)
    // Nothing is said while one of the versions is not here.
    _ = try sync(ada, bob)
    #expect(
      try found(ada) == [
        .init(hub: "hub", device: bob.key.deviceID, kind: .split, tip: ours, peerTip: theirs)
      ])
    #expect(try found(bob).map(\.kind) == [.split])
    #expect(try found(bob).map(\.hub) == ["origin"])
    // "... until a visit or a session shows otherwise".
    let merged = try #require(try ada.notebook().state().tip)
    try saw(ada, hub, merged)
    #expect(try found(ada).isEmpty)
    _ = try sync(ada, bob)
    #expect(try found(bob).isEmpty)
  }

  @Test("of several members is kept if their sessions begin at the same time")
  func together() throws {
    let sightings = HubSightings(of: try ada.notebook())
    let devices = (0..<16).map { "DEVICE\($0)" }
    let said = [CarriedSighting(hub: .emptyBlob, tip: .emptyTree, since: 2, last: 1)]
    let ended = BlockingQueue<String>()
    for device in devices {
      try Exchange.startThread {
        sightings.record(said, of: device)
        ended.put(device)
      }
    }
    for _ in devices { #expect(ended.take(until: .now + 20) != nil) }
    #expect(Set(sightings.visits().keys) == Set(devices))
  }

  // notes-doctor(1), meetings: "names the pairs of devices that visit no hub in common"
  @Test("tells which hubs a member visits, and whether two members visit one in common")
  func visits() throws {
    let carl = try Device("Carl", certifiedBy: ada)
    let tip = try version(ada, "1 of ada\n")
    for device in [bob, carl] { _ = try sync(ada, device) }
    func sightings() throws -> HubSightings { HubSightings(of: try ada.notebook()) }
    #expect(try sightings().visits()[bob.key.deviceID] == nil)
    try saw(ada, hub, tip)
    try saw(bob, same, tip, ago: 100)
    try saw(carl, Hub(name: "hub", url: "https://other.example/home"), tip)
    for device in [bob, carl] { _ = try sync(ada, device) }
    let bobs = try #require(try sightings().visits()[bob.key.deviceID])
    let carls = try #require(try sightings().visits()[carl.key.deviceID])
    #expect(Array(bobs.common.keys) == ["hub"] && carls.common.isEmpty)
    #expect(!bobs.meet(carls) && bobs.meet(bobs))
    // Sightings of hubs that this device does not visit show no difference.
    #expect(try found(ada).isEmpty)
    let notebook = try ada.notebook()
    for number in 0..<40 {
      try sightings().record(
        try (0..<16).map {
          CarriedSighting(
            hub: try ObjectID.digest(ofBlob: [UInt8(number), UInt8($0)]), tip: tip, since: 1,
            last: 1)
        }, of: "DEVICE\(number)")
    }
    #expect(HubSightings(of: notebook).lastVisit(of: hub) != nil)
  }

  @Test(
    "an older version counts only where the newer one was there before",
    arguments: [
      // When the hub took the newer version from Ada, and when Bob was shown the older one.
      (3_600, 60, HubSightings.Difference.Kind.olderThere), (3_600, 3_599, nil), (60, 3_600, nil),
      (400, 200, nil),
    ] as [(Int64, Int64, HubSightings.Difference.Kind?)])
  func kinds(given: Int64, shown: Int64, kind: HubSightings.Difference.Kind?) throws {
    let older = try #require(try ada.notebook().state().tip)
    let newer = try version(ada, "1 of ada\n")
    try saw(ada, hub, newer, ago: given)
    try saw(ada, hub, newer)
    try saw(bob, hub, older, ago: 7_200)
    try saw(bob, hub, older, ago: shown)
    _ = try sync(ada, bob)
    #expect(try found(ada).map(\.kind) == [kind].compactMap { $0 })
    #expect(try found(bob).map(\.kind) == (kind == nil ? [] : [.olderHere]))
  }

  @Test(
    "a smaller list of members counts only where the larger one was there before",
    arguments: [
      (3_600, 60, HubSightings.Difference.Kind.membersOlderThere), (3_600, 3_599, nil),
      (400, 200, nil),
    ] as [(Int64, Int64, HubSightings.Difference.Kind?)])
  func lists(given: Int64, shown: Int64, kind: HubSightings.Difference.Kind?) throws {
    let tip = try #require(try ada.notebook().state().tip)
    func saw(_ device: Device, ago: Int64, _ list: ObjectID, _ size: Int) throws {
      let notebook = try device.notebook()
      try HubSightings(of: notebook).record(
        hub, branch: "main", tip: tip, members: (list, size), notebook: notebook.identity.id,
        now: WallClock.now() - ago)
    }
    try saw(ada, ago: given, .emptyBlob, 5)
    try saw(ada, ago: 0, .emptyBlob, 5)
    try saw(bob, ago: 7_200, .emptyTree, 4)
    try saw(bob, ago: shown, .emptyTree, 4)
    _ = try sync(ada, bob)
    #expect(try found(ada).map(\.kind) == [kind].compactMap { $0 })
    #expect(try found(bob).map(\.kind) == (kind == nil ? [] : [.membersOlderHere]))
    try saw(bob, ago: 0, .emptyBlob, 5)
    _ = try sync(ada, bob)
    #expect(try found(ada).isEmpty && found(bob).isEmpty)
  }

  // "The size of a list is the number of its members' certificates and revoked serial numbers that the device
  // knows"
  @Test(
    "the size of a list grows with each member and each removal, and not by what nobody certified")
  func sizes() throws {
    let store = ada.context.membership
    func size() throws -> Int? {
      try store.extent(certificates: store.certificates, revocations: store.revocations)
    }
    var sizes = [try #require(try size())]
    let cleo = try Device("Cleo", certifiedBy: ada)
    sizes.append(try #require(try size()))
    let former = store.certificates
    try store.remove(devices: [cleo.key.deviceID], by: ada.key)
    sizes.append(try #require(try size()))
    #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
    #expect(try store.extent(certificates: former + [[1, 2]], revocations: [[3]]) == sizes[1])
    let eve = try Device(founding: "Eve").context.membership
    #expect(try store.extent(certificates: eve.certificates, revocations: []) == 0)
  }

  @Test("other hubs, branches and folders of each device's own are not compared")
  func others() throws {
    let ours = try version(ada, "1 of ada\n")
    let theirs = try version(bob, "2 of bob\n")
    for url in [
      "/srv/home.git", "ssh://localhost/home.git", "https://127.0.0.1:8443/home.git",
      "https://other.example/home.git",
    ] {
      try saw(ada, hub, ours)
      try saw(bob, Hub(name: "origin", url: url), theirs)
      _ = try sync(ada, bob)
      #expect(try found(ada).isEmpty && found(bob).isEmpty, "\(url)")
    }
    try saw(bob, hub, theirs, branch: "other")
    _ = try sync(ada, bob)
    #expect(try found(ada).isEmpty)
  }

  @Test(arguments: [
    ("git@hub.example:home.git", "ssh://git@HUB.example/home"),
    ("https://hub.example/home.git/", "hub.example:home"),
    ("https://ada:secret@hub.example/a/b", "https://hub.example/a/b.git"),
  ])
  func `One hub has one place, however it is written`(first: String, second: String) throws {
    let places = try [first, second].map { try HubPlace.id(of: $0, branch: "main", notebook: "n") }
    #expect(places[0] != nil && places[0] == places[1])
    #expect(try HubPlace.id(of: first, branch: "main", notebook: "m") != places[0])
  }
}
