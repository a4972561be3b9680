import Exchange
import Glibc
import History
import Notebook
import State
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

  private func id(of shell: Shell) throws -> String {
    try Notebook.open(at: shell.folder["notes"]).identity.device.deviceID
  }

  /// Has another device have been connected to one that many days ago.
  private func connected(_ other: Shell, to one: Shell? = nil, days: Double) throws {
    let state = StateFolder(ofNotebookIn: (one ?? laptop).folder["notes"])
    let time = timespec(tv_sec: Int(Double(TimeText.now) - days * 86_400), tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, try "\(state[.seen])/\(id(of: other))", [time, time], 0) == 0)
  }

  // notes-security(7), BETWEEN MEMBERS
  @Test func `A member is told of present members that are not blocked, and of days`() throws {
    let dora = try Shell()
    try dora.join(laptop, as: "dora")
    try sync(dora, with: bob)
    try sync(carol, with: bob)
    try connected(dora, to: bob, days: 3.5)
    func told() throws -> [String: Int64]? {
      try sync(bob, with: laptop)
      let seen = PeerSightings(stateFolder: StateFolder(ofNotebookIn: laptop.folder["notes"]))
      return try seen.report(of: id(of: bob))?.met
    }
    let (carols, doras) = (try id(of: carol), try id(of: dora))
    let met = try #require(try told())
    #expect(Set(met.keys) == [carols, doras])
    #expect((3 * 86_400...3 * 86_400 + 600).contains(TimeText.now - (met[doras] ?? 0)))
    #expect(try bob.notes("members", "block", "carol").isSuccess)
    #expect(try told()?.keys.sorted() == [doras])
    #expect(try laptop.notes("members", "remove", "dora", "--yes").isSuccess)
    try sync(bob, with: laptop)
    #expect(try told() == [:])
  }

  // "It names the pairs that never connected and visit no hub in common, and the devices that carry versions"
  @Test func `Devices that never met are named, and who carries versions between them`() throws {
    for shell in [bob, carol] { try sync(shell, with: laptop) }
    let fact = "bob and carol have told of no connection and of no hub in common"
    let carried = "only this device is known to carry versions between them"
    let now = try findings()
    #expect(
      now.map(\.message).contains("\(fact), bob just now and carol just now: \(carried)"), "\(now)")
    #expect(now.allSatisfy { $0.level == .good }, "\(now)")
    // Old reports of both say nothing about the present.
    let old = try findings(in: 8)
    let ages = "bob 8 days ago and carol 8 days ago"
    #expect(old.map(\.message).contains("\(fact), \(ages): \(carried)"), "\(old)")
    #expect(old.allSatisfy { $0.level == .good }, "\(old)")
    try connected(carol, days: 8)
    let later = try findings().filter { $0.level == .advice }
    #expect(
      later.map(\.message) == [
        "\(fact), bob just now and carol 8 days ago: \(carried), "
          + "and it last connected to carol 8 days ago"
      ])
    #expect(later[0].remedy?.contains("one hub on both") == true)

    let dora = try Shell()
    try dora.join(laptop, as: "dora")
    for shell in [bob, carol] { try sync(shell, with: dora) }
    for shell in [bob, carol, dora] { try sync(shell, with: laptop) }
    let all = try findings(in: 8).map(\.message)
    #expect(all.contains("\(fact), \(ages): this device and dora carry versions between them"))
    #expect(all.contains("bob and dora last connected about 8 days ago"), "\(all)")
    // A meeting of long ago does not show that dora carries anything.
    let long = try findings(in: 40).map(\.message)
    #expect(long.contains { $0.hasPrefix(fact) && $0.hasSuffix(carried) }, "\(long)")
    let apart = "bob and dora last connected about 40 days ago, and have told of no hub in common"
    #expect(long.contains { $0.hasPrefix(apart) && $0.hasSuffix(carried) }, "\(long)")

    try sync(bob, with: carol)
    try sync(bob, with: laptop)
    let met = try findings().map(\.message)
    #expect(met.contains("bob and carol last connected in the last two days"), "\(met)")
    #expect(!met.contains { $0.contains("no connection") }, "\(met)")
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
        "dora never connected, and no version by it is here; bob connected to it about 8 days ago"
      ])
    #expect(dora8.map(\.level) == [.good])
  }
}
