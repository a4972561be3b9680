import FoundationEssentials
import Git
import Glibc
import TestSupport
import Testing

/// notes-forget(1), "Hubs": a visit at which versions from before a forgetting and rewritten ones meet may be
/// interrupted, by a kill of this program or of git, on this side or the hub's. The next visit finishes it.
@Suite("Visits to a hub after a forgetting, interrupted at every call", .serialized)
struct ForgettingHubFaultTests {
  private static let secret = "hunter2-pass-9f"
  private static let deaths: [Fault] = [.kill, .torn]
  private static let failures: [Fault] = [
    .once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO),
  ]

  @Test("killed there, the next visit replaces the branch, and nothing is lost")
  func killed() throws {
    let budget = TestEnvironment.amount(8, inFull: 40)
    for visit in try [forgetting(), replacing(), following()] {
      try visit.command.sweep(visit.name, Self.deaths, budget: budget)
    }
  }

  @Test("failing there, the next visit replaces the branch, and nothing is lost")
  func failed() throws {
    let budget = TestEnvironment.amount(4, inFull: 24)
    for visit in try [forgetting(), replacing(), following()] {
      try visit.command.sweep(visit.name, Self.failures, budget: budget)
    }
  }

  private typealias Visit = (name: String, command: InterruptedCommand)

  /// Ada forgets something that the hub has, and the command replaces the hub's branch.
  private func forgetting() throws -> Visit {
    let (work, ada, _) = try pair()
    try ada.makeHub()
    try ada.succeed("sync", "--hub")
    try ada.write("2.txt", "stays\nunsaved\n")
    let command = try interrupting(
      ["forget", "1", "--yes"], "ada", in: work, ["2.txt": "stays\nunsaved\n"]
    ) { ada in
      let log = try ada.succeed("log", "--json").text
      if log.contains("\"1.txt\"") { try ada.succeed("forget", "1", "--yes") }
    }
    return ("forgetting what a hub has", command)
  }

  /// Ada, who had it forgotten, visits a hub with the former history, and with a version that only Cea had.
  private func replacing() throws -> Visit {
    let (work, ada, cea) = try pair()
    try ada.makeHub()
    try cea.succeed("remote", "add", "hub", ada.hub)
    try cea.succeed("sync", "--hub")
    try cea.succeed("remote", "remove", "hub")
    try ada.forget(Self.secret)
    try ada.write("2.txt", "stays\nunsaved\n")
    let command = try interrupting(
      ["sync", "--hub"], "ada", in: work,
      ["1.txt": "Wifi\nkey [forgotten]!\nof cea\n", "2.txt": "stays\nunsaved\n"])
    return ("replacing a hub's branch", command)
  }

  /// Cea visits a hub whose branch Ada has replaced.
  private func following() throws -> Visit {
    let (work, ada, cea) = try pair()
    try cea.makeHub()
    try cea.succeed("sync", "--hub")
    try ada.forget(Self.secret)
    try ada.succeed("remote", "add", "hub", cea.hub)
    try ada.succeed("sync", "--hub")
    try cea.write("2.txt", "stays\nunsaved\n")
    try cea.write("3.txt", "unsaved \(Self.secret)\n")
    let command = try interrupting(
      ["sync", "--hub"], "cea", in: work,
      [
        "1.txt": "Wifi\nkey [forgotten]!\nof cea\n", "2.txt": "stays\nunsaved\n",
        "3.txt": "unsaved [forgotten]\n",
      ])
    return ("moving over at a hub", command)
  }

  private func interrupting(
    _ words: [String], _ name: String, in work: MemoryFolder, _ files: [String: String],
    goOn: @escaping @Sendable (Party) throws -> Void = { _ in }
  ) throws -> InterruptedCommand {
    let secret = Self.secret
    return try InterruptedCommand(words, of: name, in: work, countsChildren: true) { party in
      try party.moveHub()
    } goOn: { party, _ in
      try party.succeed("status")
      try party.succeed("save")
      try party.checkGit()
      try party.unlockHub()
      try goOn(party)
      try party.succeed("sync", "--hub")
    } check: { party in
      try party.check(without: secret, files)
      try party.checkHub(without: secret)
    }
  }

  /// Two members, of whom Cea has written more.
  private func pair() throws -> (work: MemoryFolder, ada: Party, cea: Party) {
    let work = try MemoryFolder()
    let template = work.path + "/template"
    try makeFolder(template)
    let (ada, cea) = (Party("ada", in: template), Party("cea", in: template))
    try ada.write("1.txt", "Wifi\nkey \(Self.secret)\n")
    try ada.write("2.txt", "stays\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try cea.join(ada)
    try cea.write("1.txt", "Wifi\nkey \(Self.secret)!\nof cea\n")
    try cea.succeed("save")
    return (work, ada, cea)
  }
}

extension Party {
  var hub: String { folder + "/hub.git" }

  /// Makes a hub in the party's folder, so that it goes along with copies of it.
  fileprivate func makeHub() throws {
    let made = try run(["git", "init", "--quiet", "--bare", "--initial-branch=main", hub])
    guard made.isSuccess else { throw FaultRun.Violation(description: "\(made)") }
    try succeed("remote", "add", "hub", hub)
  }

  /// Names the hub of a copied party by its own place.
  fileprivate func moveHub() throws {
    let moved = try run(["git", "-C", notebook, "config", "remote.hub.url", hub])
    guard moved.isSuccess else { throw FaultRun.Violation(description: "\(moved)") }
  }

  /// Removes the locks of a git that was killed at the hub, as git says that a person must.
  fileprivate func unlockHub() throws {
    for path in try FileManager.default.subpathsOfDirectory(atPath: hub)
    where path.hasSuffix(".lock") { unlink(hub + "/" + path) }
  }

  /// The hub shows what the party shows, git finds nothing wrong with it, and no reference leads to a text.
  fileprivate func checkHub(without secret: String) throws {
    let checked = try run(["git", "-C", hub, "fsck", "--strict", "--no-dangling", "--no-progress"])
    guard checked.isSuccess, checked.errorText.isEmpty else {
      throw FaultRun.Violation(description: "git fsck of the hub: \(checked)")
    }
    let shown = try run(["git", "-C", hub, "rev-parse", "main"]).lines.first ?? ""
    guard shown == tip()?.hex else {
      throw FaultRun.Violation(
        description: "the hub is at \(shown), this device at \(tip()?.hex ?? "none")")
    }
    guard try !Leftovers.isReachable(secret, inRepository: hub) else {
      throw FaultRun.Violation(description: "the hub leads to the text")
    }
  }
}
