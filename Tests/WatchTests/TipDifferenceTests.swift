import Discovery
import Git
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Watch

/// notes-protocol(7), SESSION: equal heads and different tips, in sessions that stand.
@Suite("Watching devices that merge differently", .timeLimit(.minutes(20)))
struct WatchedTipDifferenceTests {
  private func differences(_ device: Watcher) -> [TipDifference] {
    device.events.all.compactMap { event in
      if case .differs(_, let difference) = event { difference } else { nil }
    }
  }

  @Test("tell it once, exchange nothing for it, and agree at the next edit")
  func agreeAtTheNextEdit() throws {
    let ada = try Watcher(founding: "Ada", on: InMemoryNetwork())
    let bob = try Watcher("Bob", certifiedBy: ada)
    let devices = [ada, bob]
    func start() throws {
      for device in devices { try device.start() }
      for device in devices { #expect(device.wait { device.sessions?.lasting.count == 1 }) }
    }
    func areAlike() throws -> Bool { try ada.tip() != nil && ada.tip() == bob.tip() }
    try ada.write("list\n", to: "list.txt")
    try start()
    #expect(try ada.wait(until: areAlike))
    for device in devices { device.stop() }
    try ada.write("list\nbread\n", to: "list.txt")
    try bob.write("list\nstamps\n", to: "list.txt")
    try start()
    #expect(try ada.wait(until: areAlike))
    for device in devices { device.stop() }
    let lines = try bob.text("list.txt").split(separator: "\n")
    try mergeByOtherRules(
      "list.txt", to: [lines[0], lines[2], lines[1]].map { $0 + "\n" }.joined(),
      in: bob.folder["notes"])
    let (tip, other) = (try ada.tip(), try bob.tip())

    try start()
    for device in devices { #expect(device.wait { differences(device).count == 1 }) }
    #expect(differences(ada).first?.peerTip == other && differences(bob).first?.peerTip == tip)
    #expect(try ada.tip() == tip && bob.tip() == other)
    try bob.write("the next edit\n", to: "next.txt")
    #expect(ada.wait { (try? ada.text("next.txt")) == "the next edit\n" })
    #expect(try ada.wait(until: areAlike))
    for device in devices {
      let notebook = try Notebook.open(at: device.folder["notes"])
      #expect(device.wait { notebook.tipDifferences().isEmpty })
      #expect(differences(device).count == 1)
    }
  }
}
