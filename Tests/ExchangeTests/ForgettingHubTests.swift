import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

extension FolderHub {
  /// Whether anything that a reference there leads to holds a text.
  func reaches(_ text: String) throws -> Bool {
    try Leftovers.isReachable(text, inRepository: path)
  }

  /// Lets its branch be replaced, or not.
  func lets(_ isReplaced: Bool) throws {
    try git([
      "-C", path, "config", "receive.denyNonFastForwards", isReplaced ? "false" : "true",
    ])
  }
}

/// notes-forget(1), "Hubs"; notes-hub(7), "A hub from before a forgetting".
@Suite("Hubs and bundles after something was forgotten", .timeLimit(.minutes(20)))
struct ForgettingHubTests {
  private static let secret = "hunter2-pass-9f"
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub(acceptsUnsigned: true)
    try hub.lets(true)
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("milk\n", to: "List.txt")
    _ = try ada.notebook().save()
    try ada.write("key \(Self.secret)\nmore\n", to: "Wifi.txt")
    for device in [ada, bob] {
      try device.notebook().add(hub.hub)
      try device.meet(hub)
    }
  }

  private func forget(_ text: String = secret, on device: Device? = nil) throws {
    let device = device ?? ada
    _ = try device.context.notebook().forget(.text(Array(text.utf8)))
  }

  /// Nothing that leads anywhere has the text; on the devices nothing at all.
  private func expectGone(
    _ devices: [Device], _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try !hub.reaches(Self.secret), sourceLocation: location)
    for device in devices {
      #expect(
        try Leftovers(in: device.notes).places(of: Self.secret) == [], "\(device.name)",
        sourceLocation: location)
      #expect(try hub.tip() == device.tip(), "\(device.name)", sourceLocation: location)
      #expect(try device.git("fsck", "--strict").isSuccess, sourceLocation: location)
    }
  }

  // "The device that forgot something replaces the branch without fetching it, if the branch still names the version of
  // the last visit."
  @Test("the device that forgot something replaces the branch without a look at it")
  func replaces() throws {
    let known = try Hub.knownTips(in: ada.notebook())
    #expect(known.count == 1)
    try forget()
    let (outcome, events) = try ada.visit(hub.hub) { $0.replaced = known }
    #expect(outcome.failures.isEmpty && outcome.sessions.first?.receivedVersions == 0)
    #expect(events.rewinds.isEmpty && events.others.isEmpty)
    try expectGone([ada])
    // "A device that has not followed and finds the rewritten history at a hub moves over".
    try bob.write("of Bob with \(Self.secret)\n", to: "Mine.txt")
    let (followed, told) = try bob.visit(hub.hub)
    #expect(followed.failures.isEmpty && told.rewinds.isEmpty)
    #expect(try bob.text("Mine.txt") == "of Bob with [forgotten]\n")
    try ada.meet(hub)
    try expectGone([ada, bob])
    #expect(try ada.text("Mine.txt") == "of Bob with [forgotten]\n")
    #expect(try ada.notebook().forgettingStatus()?.hasMovedOver("hub") == true)
  }

  // "removes the same things from the versions that only the hub had"
  @Test("what others gave the hub meanwhile is brought over", arguments: [true, false])
  func bringsOver(isKnown: Bool) throws {
    let known = isKnown ? try Hub.knownTips(in: ada.notebook()) : [:]
    try bob.write("key \(Self.secret)\nmore\nof Bob\n", to: "Wifi.txt")
    try bob.write("new of Bob\n", to: "Mine.txt")
    try bob.meet(hub)
    try forget()
    let (outcome, events) = try ada.visit(hub.hub) { $0.replaced = known }
    #expect(outcome.failures.isEmpty && events.rewinds.isEmpty, "\(outcome.failures)")
    try expectGone([ada])
    #expect(try ada.text("Wifi.txt") == "key [forgotten]\nmore\nof Bob\n")
    #expect(try ada.text("Mine.txt") == "new of Bob\n")
    let tip = try ada.tip()
    try bob.meet(hub)
    #expect(try bob.tip() == tip && ada.notebook().history.obeyed() != nil)
    try expectGone([ada, bob])
    // Both go on as ever.
    let moves = try hub.moves()
    for device in [ada, bob] { #expect(try device.meet(hub).isInSync) }
    #expect(try hub.moves() == moves)
  }

  // "any writer's device can do this"
  @Test("a writer that followed by a session replaces the branch, and a new device clones that")
  func byWriter() throws {
    try forget()
    _ = try sync(bob, ada)
    try bob.meet(hub)
    try expectGone([ada, bob])
    let cleo = try Device("Cleo", certifiedBy: ada)
    try cleo.meet(hub)
    try expectGone([ada, bob, cleo])
    #expect(try cleo.notebook().history.obeyed() == ada.notebook().history.obeyed())
  }

  // "If the branch no longer names the fetched version, the visit begins again."
  @Test("whoever gives the hub something between the look and the push loses nothing")
  func race() throws {
    try forget()
    let keeper = DirectKeeper(ada.context)
    let visit = try HubVisit(
      to: hub.hub, from: ada.context.notebook(), keeper, by: GitProgram(), as: ada.context)
    visit.meanwhile = { [bob, hub] in
      try bob.write("key \(Self.secret)\nmore\nin between\n", to: "Wifi.txt")
      try bob.meet(hub)
      #expect(try bob.notebook().history.obeyed() == nil)
    }
    _ = try visit.run()
    #expect(try ada.text("Wifi.txt") == "key [forgotten]\nmore\nin between\n")
    try expectGone([ada])
    try bob.meet(hub)
    try expectGone([ada, bob])
  }

  // "the visit fails (hub_keeps_forgotten), and no device sends anything there"
  @Test(
    "a hub that does not let its branch be replaced keeps it, and is told of",
    arguments: [true, false])
  func refusing(isKnown: Bool) throws {
    try hub.lets(false)
    let known = isKnown ? try Hub.knownTips(in: ada.notebook()) : [:]
    try bob.write("of Bob\n", to: "Mine.txt")
    if !isKnown { try bob.meet(hub) }
    let tip = try hub.tip()
    try forget()
    for _ in 0..<2 {
      let error = try ada.failure(at: hub.hub) { $0.replaced = known }
      let isKept = error.map { if case .keepsForgotten = $0 { true } else { false } }
      #expect(isKept == true, "\(error as Any)")
      #expect(try hub.tip() == tip)
      #expect(try Leftovers(in: ada.notes).places(of: Self.secret) == [])
    }
    if !isKnown { #expect(try ada.text("Mine.txt") == "of Bob\n") }
    #expect(try ada.notebook().forgettingStatus()?.hasMovedOver("hub") != true)
    try hub.lets(true)
    try ada.meet(hub)
    try bob.meet(hub)
    try ada.meet(hub)
    try expectGone([ada, bob])
  }

  // "where no commit is shared, and the hub has this notebook's list of members"
  @Test("the very first version may be one that was rewritten")
  func first() throws {
    try forget("milk")
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try !hub.reaches("milk"))
    #expect(try bob.text("List.txt") == "[forgotten]\n")
    #expect(try hub.tip() == ada.tip() && hub.tip() == bob.tip())
  }

  // "A merge of both histories … is replaced likewise."
  @Test("somebody who uses git alone merges both, or rebases as the manual says")
  func gitPerson() throws {
    let (pat, sam) = try (hub.clone(as: "pat"), hub.clone(as: "sam"))
    try pat.commit("of pat\n", to: "pat.txt")
    try sam.commit("of sam\n", to: "sam.txt")
    try forget()
    try ada.meet(hub)
    try sam.git("fetch", "--quiet")
    try sam.git("rebase", "--quiet", "--onto", "@{upstream}", "@{upstream}@{1}")
    try sam.git("push", "--quiet")
    #expect(try !hub.reaches(Self.secret))
    try ada.meet(hub)
    #expect(try ada.text("sam.txt") == "of sam\n")
    try pat.git("pull", "--quiet", "--no-rebase", "--no-edit", "-X", "ours")
    try pat.git("push", "--quiet")
    #expect(try hub.reaches(Self.secret))
    try ada.meet(hub)
    try bob.meet(hub)
    try ada.meet(hub)
    try expectGone([ada, bob])
    #expect(try bob.text("pat.txt") == "of pat\n" && bob.text("sam.txt") == "of sam\n")
  }

  // "Other branches and tags at a hub … The command names them and leaves them alone"
  @Test(
    "other references are named; the other branch of the notebook is replaced with it",
    arguments: [true, false])
  func others(isKnown: Bool) throws {
    let known = isKnown ? try Hub.knownTips(in: ada.notebook()) : [:]
    try hub.git(["-C", hub.path, "branch", "master", "main"])
    try hub.git(["-C", hub.path, "branch", "side", "main"])
    try hub.git(["-C", hub.path, "tag", "v1", "main"])
    try forget()
    let (outcome, events) = try ada.visit(hub.hub) { $0.replaced = known }
    #expect(outcome.failures.isEmpty, "\(outcome.failures)")
    let named = events.others
    // Without a fetch the device does not know of the notebook's other branch.
    let twin = isKnown ? ["refs/heads/master"] : []
    #expect(named == [twin + ["refs/heads/side", "refs/tags/v1"]])
    try ada.meet(hub)
    let heads = try hub.git(["-C", hub.path, "rev-parse", "main", "master"])
    let tip = try #require(try ada.tip())
    #expect(heads == "\(tip)\(tip)")
    try hub.git(["-C", hub.path, "branch", "-D", "side"])
    try hub.git(["-C", hub.path, "tag", "-d", "v1"])
    try expectGone([ada])
  }

  // "A hub that went back": only somebody else's doing is that.
  @Test("a hub that somebody set back to what it had before is told of, and replaced again")
  func setBack() throws {
    let old = try #require(try hub.tip())
    try forget()
    try ada.meet(hub)
    try hub.git(["-C", hub.path, "update-ref", "refs/heads/main", old.hex])
    let (outcome, events) = try ada.visit(hub.hub)
    #expect(outcome.failures.isEmpty && events.rewinds.count == 1)
    try expectGone([ada])
  }

  // MARK: Bundles

  // "Versions from before": "the device keeps its rewritten form of the versions that it has rewritten, and
  // removes the same things from the others"
  @Test("a bundle from before is brought over; one that builds on what is gone is refused")
  func bundles() throws {
    let (whole, later, new) = (hub.folder["whole"], hub.folder["later"], hub.folder["new"])
    try bob.write("of Bob with \(Self.secret)\n", to: "Mine.txt")
    try bob.writeBundle(whole)
    try bob.writeBundle(later, since: [try #require(try ada.tip())])
    try forget()
    let tip = try ada.tip()
    do {
      try ada.apply(later)
      Issue.record("it was applied")
    } catch BundleError.lacking {}
    #expect(try ada.tip() == tip)
    try ada.apply(whole)
    #expect(try Leftovers(in: ada.notes).places(of: Self.secret) == [])
    #expect(try ada.text("Mine.txt") == "of Bob with [forgotten]\n")
    let merged = try ada.tip()
    try ada.apply(whole)
    #expect(try ada.tip() == merged)
    try ada.writeBundle(new)
    try bob.apply(new)
    #expect(try bob.tip() == ada.tip())
    #expect(try Leftovers(in: bob.notes).places(of: Self.secret) == [])
  }
}
