import Git
import History
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-protocol(7), SESSION: "Equal heads and different tips mean that one side is at fault, or merges by
/// other rules".
@Suite struct TipDifferenceTests {
  let ada: Device
  let bob: Device

  /// Ada and Bob have the same two heads. Bob's program follows rules 9, by which the sides of a
  /// list stand the other way round.
  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("list\n", to: "list.txt")
    _ = try sync(bob, ada)
    try ada.write("list\nbread\n", to: "list.txt")
    try bob.write("list\nstamps\n", to: "list.txt")
    _ = try sync(bob, ada)
    let tip = try #require(try bob.tip())
    let lines = try bob.text("list.txt").split(separator: "\n")
    try mergeByOtherRules(
      "list.txt", to: [lines[0], lines[2], lines[1]].map { $0 + "\n" }.joined(), in: bob.notes)
    try #require(try bob.tip() != tip && bob.notebook().state().heads.count == 2)
    try #require(try ada.tip() == tip)
  }

  @Test("equal heads with different tips are told and remembered, and nothing is exchanged")
  func told() throws {
    let tips = try (ada.tip(), bob.tip())
    let (called, served) = try sync(bob, ada)
    for (result, own, peer) in [(called, tips.1, tips.0), (served, tips.0, tips.1)] {
      #expect(result.tipDifference?.tip == own && result.tipDifference?.peerTip == peer)
      #expect(result.tipDifference?.peerRules == 4)
      #expect(result.sentVersions == 0 && result.receivedVersions == 0 && !result.isInSync)
    }
    #expect(try ada.notebook().tipDifferences() == [served.tipDifference].compactMap { $0 })
    // "no loop": another session does as little, and has no news.
    let (again, _) = try sync(bob, ada)
    #expect(again.tipDifference == called.tipDifference)
    #expect(try !ada.notebook().remember(try #require(served.tipDifference)))
    #expect(try ada.tip() == tips.0 && bob.tip() == tips.1)
  }

  @Test("the next edit, on either tip or on both, settles it", arguments: ["Ada", "Bob", "both"])
  func settled(by editor: String) throws {
    _ = try sync(bob, ada)
    if editor != "Bob" { try ada.write("by Ada\n", to: "ada.txt") }
    if editor != "Ada" { try bob.write("by Bob\n", to: "bob.txt") }
    let (called, _) = try sync(ada, bob)
    #expect(called.isInSync && called.tipDifference == nil)
    #expect(try ada.tip() == bob.tip())
    #expect(try ada.text("list.txt") == bob.text("list.txt"))
    for line in ["list", "bread", "stamps"] {
      #expect(try ada.text("list.txt").contains(line + "\n"))
    }
    for device in [ada, bob] { #expect(try device.notebook().tipDifferences().isEmpty) }
  }
}
