import FoundationEssentials
import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-forget(1), "The first version": devices that follow, and what they wrote since.
@Suite("Devices after older versions were forgotten", .timeLimit(.minutes(20)))
struct ForgettingBeforeTests {
  private static let gone = "words that nobody wants"
  let ada: Device
  let bob: Device
  let cleo: Device

  init() throws {
    ada = try Device(founding: "Ada")
    (bob, cleo) = (try Device("Bob", certifiedBy: ada), try Device("Cleo", certifiedBy: ada))
    try ada.write("milk\n", to: "List.txt")
    try ada.write("\(Self.gone)\n", to: "Diary.txt")
    _ = try ada.notebook().save()
    for device in [bob, cleo] { _ = try sync(device, ada) }
    // Each has a version that all others know.
    for device in [bob, cleo] {
      try device.write("of \(device.name)\n", to: "\(device.name).txt")
      _ = try sync(device, ada)
    }
    _ = try sync(bob, ada)
  }

  private func save(_ text: String, to note: String, on device: Device) throws {
    try device.write(text, to: note)
    #expect(try device.context.notebook().save().version != nil, "\(text)")
  }

  @discardableResult
  private func forget(on device: Device? = nil) throws -> Forgotten {
    let time = Int64(Date().timeIntervalSince1970) + 60
    return try (device ?? ada).context.notebook().forget(.before(time))
  }

  /// Ada goes on, and others get the version with which the history is to begin. Ada does not get theirs.
  private func goOn(known devices: [Device]? = nil) throws {
    try save("eggs\nmilk\n", to: "List.txt", on: ada)
    try ada.remove("Diary.txt")
    _ = try ada.context.notebook().save()
    try save("of Ada\n", to: "Ada.txt", on: ada)
    for device in devices ?? [bob, cleo] { _ = try sync(device, ada, mode: .pull) }
  }

  private func expectAlike(
    _ devices: [Device], _ location: SourceLocation = #_sourceLocation
  ) throws {
    for device in devices {
      #expect(try device.tip() == ada.tip(), "\(device.name)", sourceLocation: location)
      #expect(
        try Leftovers(in: device.notes).places(of: Self.gone) == [], "\(device.name)",
        sourceLocation: location)
      #expect(!device.exists("Diary.txt"), sourceLocation: location)
      #expect(
        try device.notebook().history.obeyed() == ada.notebook().history.obeyed(),
        sourceLocation: location)
      #expect(try device.git("fsck", "--strict").isSuccess, sourceLocation: location)
      let roots = try device.git("rev-list", "--max-parents=0", "HEAD").lines
      #expect(roots.count == 1, "\(device.name)", sourceLocation: location)
    }
  }

  @Test("a device with versions on top of the first one keeps them")
  func later() throws {
    try goOn()
    _ = try sync(bob, ada)
    try save("eggs\nmilk\nof Bob\n", to: "List.txt", on: bob)
    try forget()
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Bob\n")
  }

  @Test(
    "edits on a version that went arrive, and nothing that was deleted comes back",
    arguments: [true, false])
  func late(isCalling: Bool) throws {
    try save("milk\nof Bob\n", to: "List.txt", on: bob)
    try save("new of Bob\n", to: "Mine.txt", on: bob)
    try goOn()
    try forget()
    let ids = Set(try ada.notebook().history.notes().map(\.id))
    _ = isCalling ? try sync(bob, ada) : try sync(ada, bob)
    try expectAlike([ada, bob])
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Bob\n")
    #expect(try ada.text("Mine.txt") == "new of Bob\n")
    #expect(try bob.text("Ada.txt") == "of Ada\n")
    #expect(try ada.notebook().history.conflicts().isEmpty)
    #expect(try Set(bob.notebook().history.notes().map(\.id)).isSuperset(of: ids))
    let log = try ada.git("log", "--format=%an", "--", "Mine.txt").lines
    #expect(log.count == 1, "\(log)")
    // Both go on.
    try save("eggs\nmilk\nof Bob\nlater\n", to: "List.txt", on: bob)
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    // A device that wrote nothing follows, too.
    _ = try sync(cleo, bob)
    try expectAlike([ada, bob, cleo])
  }

  @Test("edits of the same line are a conflict like any other")
  func conflict() throws {
    try save("milk of Bob\n", to: "List.txt", on: bob)
    try save("milk of Ada\n", to: "List.txt", on: ada)
    try goOnWithoutList()
    try forget()
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    for device in [ada, bob] {
      let text = try device.text("List.txt")
      #expect(text.contains("milk of Ada\n") && text.contains("milk of Bob\n"), "\(text)")
      #expect(try device.notebook().history.conflicts().map(\.path) == ["List.txt"])
    }
    try save("milk\n", to: "List.txt", on: bob)
    _ = try sync(bob, ada)
    #expect(try ada.notebook().history.conflicts().isEmpty)
  }

  private func goOnWithoutList() throws {
    try ada.remove("Diary.txt")
    _ = try ada.context.notebook().save()
    for device in [bob, cleo] { _ = try sync(device, ada, mode: .pull) }
  }

  @Test("two that met while they were away bring their edits once", arguments: [true, false])
  func together(isBobFirst: Bool) throws {
    try save("milk\nof Bob\n", to: "List.txt", on: bob)
    _ = try sync(cleo, bob)
    try save("milk\nof Bob\nof Cleo\n", to: "List.txt", on: cleo)
    try goOn()
    try forget()
    for device in isBobFirst ? [bob, cleo, bob] : [cleo, bob, cleo] { _ = try sync(device, ada) }
    try expectAlike([ada, bob, cleo])
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Bob\nof Cleo\n")
    #expect(try ada.notebook().history.conflicts().isEmpty)
  }

  @Test("hubs, and bundles from before", arguments: [true, false])
  func hub(isForced: Bool) throws {
    let hub = try FolderHub()
    try hub.lets(true)
    for device in [ada, bob, cleo] {
      try device.notebook().add(hub.hub)
      try device.meet(hub)
    }
    let (old, unseen) = (hub.folder["old"], hub.folder["unseen"])
    try bob.writeBundle(old)
    try save("milk\nof Cleo\n", to: "List.txt", on: cleo)
    try cleo.writeBundle(unseen)
    try save("new of Bob\n", to: "Mine.txt", on: bob)
    if !isForced { for device in [bob, ada] { try device.meet(hub) } }
    try goOn()
    if !isForced { try ada.meet(hub) }
    let before = try Hub.knownTips(in: ada.notebook())
    try forget()
    if isForced { _ = try ada.visit(hub.hub) { $0.replaced = before } }
    try ada.meet(hub)
    try bob.meet(hub)
    try ada.meet(hub)
    try bob.meet(hub)
    try expectAlike([ada, bob])
    #expect(try !hub.reaches(Self.gone) && hub.tip() == ada.tip())
    #expect(try ada.text("Mine.txt") == "new of Bob\n")
    try cleo.meet(hub)
    try ada.meet(hub)
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Cleo\n")
    try ada.meet(hub)
    try cleo.meet(hub)
    try bob.meet(hub)
    try expectAlike([ada, bob, cleo])
    #expect(try !hub.reaches(Self.gone))
    let tip = try ada.tip()
    // Bundles without the version that became the first one.
    for bundle in [old, unseen] { #expect(throws: (any Error).self) { try ada.apply(bundle) } }
    #expect(try ada.tip() == tip && !ada.exists("Diary.txt"))
  }

  @Test("older versions on one admin's device and a text on another's", arguments: [true, false])
  func atOnce(isCalling: Bool) throws {
    let eve = try Device("Eve", certifiedBy: ada, as: .admin)
    try save("key hunter2-pass and more\n", to: "Wifi.txt", on: ada)
    for device in [eve, bob] { _ = try sync(device, ada) }
    try goOn()
    _ = try sync(eve, ada)
    try forget()
    _ = try eve.context.notebook().forget(.text(Array("hunter2-pass".utf8)))
    try save("of Eve\n", to: "Eve.txt", on: eve)
    for _ in 0..<2 { _ = isCalling ? try sync(eve, ada) : try sync(ada, eve) }
    _ = try sync(bob, eve)
    _ = try sync(ada, bob)
    try expectAlike([ada, bob, eve])
    for device in [ada, bob, eve] {
      #expect(try Leftovers(in: device.notes).places(of: "hunter2-pass") == [], "\(device.name)")
      #expect(try device.text("Wifi.txt") == "key [forgotten] and more\n")
      #expect(try device.text("Eve.txt") == "of Eve\n")
    }
  }

  @Test("older versions and then a text: a device that missed both removes the text from its own")
  func both() throws {
    try goOn()
    try save("key hunter2-pass and more\n", to: "Wifi.txt", on: ada)
    _ = try sync(bob, ada)
    try save("again hunter2-pass\n", to: "Mine.txt", on: bob)
    try forget()
    _ = try ada.context.notebook().forget(.text(Array("hunter2-pass".utf8)))
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    #expect(try ada.text("Mine.txt") == "again [forgotten]\n")
    #expect(try ada.text("Wifi.txt") == "key [forgotten] and more\n")
    for device in [ada, bob] {
      #expect(try Leftovers(in: device.notes).places(of: "hunter2-pass") == [], "\(device.name)")
    }
  }

  @Test("twice: devices that missed one time have edits on each first version")
  func twice() throws {
    try save("milk\nof Cleo\n", to: "List.txt", on: cleo)
    try goOn()
    try forget()
    _ = try sync(bob, ada)
    try save("eggs\nmilk\nof Bob\n", to: "List.txt", on: bob)
    try save("more\n", to: "Ada.txt", on: ada)
    for device in [bob, cleo] { _ = try sync(device, ada, mode: .pull) }
    try forget()
    for device in [bob, cleo, bob] { _ = try sync(device, ada) }
    try expectAlike([ada, bob, cleo])
    let text = try ada.text("List.txt")
    for line in ["eggs\n", "milk\n", "of Bob\n", "of Cleo\n"] {
      #expect(text.contains(line), "\(text)")
    }
    #expect(try ada.text("Ada.txt") == "more\n")
  }

  @Test("a copy from before both times changes nothing, and keeps its edits")
  func known() throws {
    try save("milk\nof Bob\n", to: "List.txt", on: bob)
    _ = try sync(cleo, bob)
    try save("of Cleo\n", to: "Mine.txt", on: cleo)
    try goOn(known: [bob])
    try forget()
    // Bob puts his edit on the first version; Ada then removes the note.
    _ = try sync(bob, ada)
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Bob\n")
    try ada.remove("List.txt")
    _ = try ada.context.notebook().save()
    try forget()
    let tips = try [ada, cleo].map { try $0.tip() }
    for isCalling in [true, false] {
      #expect(throws: SyncError.self) {
        try isCalling ? sync(cleo, ada) : sync(ada, cleo)
      }
    }
    #expect(try [ada, cleo].map { try $0.tip() } == tips)
    #expect(try !ada.exists("List.txt") && cleo.text("Mine.txt") == "of Cleo\n")
  }

  @Test("older versions and then a text in an edit that an admin's device has put on the first one")
  func textAfter() throws {
    try save("key hunter2-pass and more\n", to: "Wifi.txt", on: bob)
    _ = try sync(cleo, bob)
    try save("again hunter2-pass\n", to: "Mine.txt", on: bob)
    try save("milk\nof Bob\n", to: "List.txt", on: bob)
    try goOn()
    try forget()
    _ = try sync(cleo, ada)
    _ = try ada.context.notebook().forget(.text(Array("hunter2-pass".utf8)))
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    #expect(try ada.text("Mine.txt") == "again [forgotten]\n")
    #expect(try ada.text("Wifi.txt") == "key [forgotten] and more\n")
    #expect(try ada.text("List.txt") == "eggs\nmilk\nof Bob\n")
    for device in [ada, bob] {
      #expect(try Leftovers(in: device.notes).places(of: "hunter2-pass") == [], "\(device.name)")
    }
  }

  @Test("older versions and then a note: of the note, only lines that were never in it stay")
  func note() throws {
    try goOn()
    try save("secret plan\n", to: "Plan.txt", on: ada)
    _ = try sync(bob, ada)
    try save("secret plan\nof Bob\n", to: "Plan.txt", on: bob)
    try forget()
    _ = try ada.context.notebook().forget(.note("Plan.txt"))
    _ = try sync(bob, ada)
    try expectAlike([ada, bob])
    #expect(try ada.text("Plan.txt") == "of Bob\n")
    for device in [ada, bob] {
      #expect(try Leftovers(in: device.notes).places(of: "secret plan") == [], "\(device.name)")
    }
  }

  // "every other device and hub is known to have it", and "to have followed what was forgotten before".
  @Test("only what every other device and hub is known to have can be the first version")
  func knownEverywhere() throws {
    func plan() throws -> ForgetPlan {
      let time = Int64(Date().timeIntervalSince1970) + 60
      let holders = try ada.notebook().versionHolders()
      return try ada.context.notebook().forgetPlan(.before(time, knownTo: holders))
    }
    try goOn(known: [])
    #expect(try plan().first?.heldBackBy == ["Bob", "Cleo"])
    let known = try #require(try ada.tip())
    for device in [bob, cleo] { _ = try sync(device, ada) }
    try save("later\n", to: "Ada.txt", on: ada)
    _ = try sync(bob, ada)
    let first = try #require(try plan().first)
    #expect(first.version == known && first.heldBackBy == ["Cleo"])
    let hub = try FolderHub()
    try ada.notebook().add(hub.hub)
    #expect(throws: ForgetError.notEverywhere(["hub"])) { try plan() }
    try ada.meet(hub)
    #expect(try plan().first == first)
    let holders = try ada.notebook().versionHolders()
    let time = Int64(Date().timeIntervalSince1970) + 60
    _ = try ada.context.notebook().forget(.before(time, knownTo: holders))
    try save("much later\n", to: "Ada.txt", on: ada)
    #expect(throws: ForgetError.notFollowed(["Bob", "Cleo", "hub"])) { try plan() }
    try hub.lets(true)
    try ada.meet(hub)
    for device in [bob, cleo] { _ = try sync(device, ada) }
    #expect(try plan().first?.heldBackBy == [])
  }

  @Test("a device that meets only a hub is known by all versions that it has signed")
  func knownByHub() throws {
    let hub = try FolderHub()
    for device in [ada, bob] { try device.notebook().add(hub.hub) }
    try goOn(known: [cleo])
    let known = try #require(try ada.tip())
    for device in [ada, bob] { try device.meet(hub) }
    func plan() throws -> ForgetPlan {
      let time = Int64(Date().timeIntervalSince1970) + 60
      let holders = try ada.notebook().versionHolders()
      return try ada.context.notebook().forgetPlan(.before(time, knownTo: holders))
    }
    #expect(try plan().first?.heldBackBy == ["Bob"])
    try save("new of Bob\n", to: "Mine.txt", on: bob)
    for device in [bob, ada] { try device.meet(hub) }
    #expect(try plan().first?.version == known)
  }

  @Test("a writer's changes nothing on others")
  func writer() throws {
    try save("of Bob\n", to: "Mine.txt", on: bob)
    try forget(on: bob)
    let tip = try ada.tip()
    #expect(throws: SyncError.self) { try sync(ada, bob) }
    #expect(try ada.tip() == tip && ada.exists("Diary.txt"))
  }
}
