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

  // MARK: Hubs

  private static let address = "ssh://git@hub.example/home.git"

  /// Has the address of a hub on another machine lead a device to a folder of this one.
  private func reach(from shell: Shell) throws {
    shell.environment["GIT_CONFIG_GLOBAL"] = shell.folder["gitconfig"]
    let setting = ["url.\(laptop.folder["hub.git"]).insteadOf", Self.address]
    try #require(
      try run(["git", "config", "--global"] + setting, environment: shell.environment).isSuccess)
  }

  private func addHub(to shells: Shell...) throws {
    for shell in shells {
      try reach(from: shell)
      try #require(try shell.notes("remote", "add", "home", Self.address).isSuccess)
      try meet(shell)
    }
  }

  /// Makes a hub, and a version to send there.
  private func makeHub() throws {
    try laptop.folder.write("one\n", to: "notes/A.txt")
    let folder = laptop.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", folder]).isSuccess)
  }

  /// A new device that shares only the hub with the laptop.
  private func joinAtHub(_ name: String, as role: String) throws -> Shell {
    let shell = try Shell()
    try reach(from: shell)
    let made = try laptop.notes("invite", "--hub", "home", "--role", role)
    let link = try #require(made.lines.first { $0.hasPrefix("notes://join/") }, "\(made)")
    let asked = try shell.notes("join", link, "../desk", "--yes", "--device-name", name)
    try #require(asked.isSuccess, "\(asked)")
    try meet(laptop)
    try #require(try shell.notes("sync", "--hub", in: "desk").isSuccess)
    return shell
  }

  // "if it knows of any hub, it says of such a device's pairs only what the other device told of connections"
  @Test func `A device that only visits hubs is not said to meet nobody there`() throws {
    try makeHub()
    try addHub(to: laptop, bob)
    let dora = try joinAtHub("dora", as: "writer")
    try dora.folder.write("by dora\n", to: "desk/D.txt")
    try #require(try dora.notes("sync", "--hub", in: "desk").isSuccess)
    try meet(laptop)
    for shell in [bob, carol] { try sync(shell, with: laptop) }
    for days: Int64 in [0, 8] {
      let all = try findings(in: days)
      #expect(!all.contains { $0.message.contains("and dora") || $0.message.contains("dora and") })
      #expect(
        all.contains {
          $0.message.hasPrefix("dora never connected directly; its newest version (")
            && $0.message.hasSuffix(") arrived by a hub, a bundle or another device")
        }, "\(all)")
      // Those who told of all their hubs are compared.
      let apart = "bob and carol have told of no connection and of no hub in common"
      #expect(all.contains { $0.message.hasPrefix(apart) }, "\(all)")
    }
  }

  // "It gives none about a reader if this device has a hub, because readers send nothing there."
  @Test func `A reader that only visits hubs is not missed`() throws {
    try makeHub()
    try addHub(to: laptop)
    _ = try joinAtHub("dora", as: "reader")
    let late = try findings(in: 8).filter { $0.message.hasPrefix("dora ") }
    #expect(late.map(\.level) == [.good])
    #expect(
      late.map(\.message) == [
        "dora never connected, and no version by it is here; a reader sends none, so this device cannot tell if it "
          + "visits a hub"
      ])
  }

  @Test func `A hub that was removed is no hub in common`() throws {
    try makeHub()
    try addHub(to: laptop, bob, carol)
    for shell in [bob, carol] { try sync(shell, with: laptop) }
    #expect(try findings().map(\.message).contains("bob and carol visit a hub in common"))
    try #require(try bob.notes("remote", "remove", "home").isSuccess)
    try sync(bob, with: laptop)
    let apart = "bob and carol have told of no connection and of no hub in common"
    #expect(try findings().contains { $0.message.hasPrefix(apart) })
    #expect(
      try !findings().contains { $0.message.contains("bob was met") && $0.message.contains("hub") })
  }

  // "gives advice if only this device carries versions between two others, of which one has connected to it within a
  // week and the other has not"
  @Test func `A device whose versions still arrive is not said to need a hub`() throws {
    try makeHub()
    try addHub(to: laptop, carol)
    for shell in [bob, carol] { try sync(shell, with: laptop) }
    try connected(bob, days: 8)
    let apart = "bob and carol have told of no connection and of no hub in common"
    #expect(try findings().contains { $0.level == .advice && $0.message.hasPrefix(apart) })
    // Bob got a hub since.
    try addHub(to: bob)
    try bob.folder.write("by bob\n", to: "notes/B.txt")
    try meet(bob)
    try meet(laptop)
    let all = try findings()
    #expect(all.allSatisfy { $0.level == .good } && !all.contains { $0.message.hasPrefix(apart) })
    #expect(
      all.contains {
        $0.message.contains("bob was met 8 days ago")
          && $0.message.hasSuffix(
            "; its newest version (just now) arrived by a hub, a bundle or another device")
      }, "\(all)")
  }
}
