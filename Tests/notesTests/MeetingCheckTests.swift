import Glibc
import Notebook
import TestSupport
import Testing

@testable import notes

/// notes-doctor(1), meetings.
@Suite(.timeLimit(.minutes(5))) struct MeetingCheckTests {
  private let laptop: Shell
  private let bob: Shell
  private let carol: Shell

  init() throws {
    (laptop, bob, carol) = (try Shell(), try Shell(), try Shell())
    try laptop.initialise()
    try bob.join(laptop, as: "bob")
    try carol.join(laptop, as: "carol")
  }

  private func sync(_ one: Shell, with other: Shell) throws {
    let (serve, port) = try other.listening("serve")
    let synced = try one.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    try #require(synced.isSuccess, "\(synced)")
    serve.send(SIGTERM)
    try serve.wait()
  }

  private func findings(in days: Int64 = 0) throws -> [Finding] {
    let context = CheckContext(
      notebook: try Notebook.open(at: laptop.folder["notes"]), now: TimeText.now + days * 86_400)
    return Check.meetings.findings(in: context)
  }

  // "It names the pairs that never connected and visit no hub in common, and the devices that carry versions"
  @Test func `Devices that never met are named, and who carries versions between them`() throws {
    for shell in [bob, carol] { try sync(shell, with: laptop) }
    let fact = "bob and carol have not connected, and visit no hub in common"
    let carried = "\(fact): only this device is known to carry versions between them"
    let now = try findings()
    #expect(now.map(\.message).contains(carried), "\(now)")
    #expect(now.allSatisfy { $0.level == .good }, "\(now)")
    let later = try findings(in: 8).filter { $0.level == .advice }
    #expect(later.map(\.message) == ["\(carried), and it last connected to both 8 days ago"])
    #expect(later[0].remedy?.contains("one hub on both") == true)

    let dora = try Shell()
    try dora.join(laptop, as: "dora")
    for shell in [bob, carol] { try sync(shell, with: dora) }
    for shell in [bob, carol, dora] { try sync(shell, with: laptop) }
    let all = try findings(in: 8).map(\.message)
    #expect(all.contains("\(fact): this device and dora carry versions between them"), "\(all)")
    #expect(all.contains("bob and dora last connected 8 days ago"), "\(all)")

    try sync(bob, with: carol)
    try sync(bob, with: laptop)
    let met = try findings().map(\.message)
    #expect(met.contains("bob and carol last connected just now"), "\(met)")
    #expect(!met.contains { $0.contains("have not connected") }, "\(met)")
  }

  // "and which device connected to it last"
  @Test func `A device that this one never met is told by another that did`() throws {
    let dora = try Shell()
    try dora.join(laptop, as: "dora")
    try sync(dora, with: bob)
    try sync(bob, with: carol)
    try sync(carol, with: bob)
    let context = CheckContext(
      notebook: try Notebook.open(at: carol.folder["notes"]), now: TimeText.now + 8 * 86_400)
    let dora8 = Check.meetings.findings(in: context).filter { $0.message.hasPrefix("dora never") }
    #expect(
      dora8.map(\.message) == [
        "dora never connected, and no version by it is here; bob connected to it 8 days ago"
      ])
    #expect(dora8.map(\.level) == [.good])
  }
}
