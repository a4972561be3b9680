import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// notes-forget(1), "Other devices" and "Versions from before": a device that moves over, or brings over what it
/// finds, and is interrupted has the one history or the other, and loses nothing of its own.
@Suite("Moving over, interrupted at every call that changes the file system", .serialized)
struct MovingOverFaultTests {
  private static let secret = "hunter2-pass-9f"
  private static let other = "bananas of cea"
  private static let deaths: [Fault] = [.kill, .torn, .power]
  private static let failures: [Fault] = [
    .once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO),
  ]

  @Test("killed there, there is the one history or the other, with all that was written")
  func killed() throws {
    let budget = TestEnvironment.amount(12, inFull: 40)
    try moving().sweep("moving over", Self.deaths, budget: budget)
    try bringing().sweep("bringing over", Self.deaths, budget: budget)
    try joining().sweep("joining two forgettings", Self.deaths, budget: budget)
  }

  @Test("killed between a joined history and its list, the next command makes the list")
  func unlisted() throws {
    try joining().sweep(
      "listing both forgettings", [.kill], budget: TestEnvironment.amount(16, inFull: 60)
    ) { $0.hasPrefix("rename-exchange ") && $0.contains(".git") }
  }

  @Test("failing there, there is the one history or the other, with all that was written")
  func failed() throws {
    let budget = TestEnvironment.amount(8, inFull: 24)
    try moving().sweep("moving over", Self.failures, budget: budget)
    try bringing().sweep("bringing over", Self.failures, budget: budget)
    try joining().sweep("joining two forgettings", Self.failures, budget: budget)
  }

  /// Cea takes a bundle in which something was forgotten.
  private func moving() throws -> InterruptedCommand {
    let (work, ada, cea) = try pair()
    let bundle = work.path + "/template/new.bundle"
    try ada.forget(Self.secret)
    try ada.succeed("bundle", "create", bundle)
    try cea.write("2.txt", "stays\nunsaved\n")
    try cea.write("3.txt", "unsaved \(Self.secret)\n")
    return try applying(
      bundle, "cea", in: work,
      [
        "1.txt": "Wifi\nkey [forgotten]!\nof cea\n", "2.txt": "stays\nunsaved\n",
        "3.txt": "unsaved [forgotten]\n",
      ])
  }

  /// Ada, who had it forgotten, takes a bundle from before, with a version that only Cea had.
  private func bringing() throws -> InterruptedCommand {
    let (work, ada, cea) = try pair()
    let bundle = work.path + "/template/old.bundle"
    try cea.succeed("bundle", "create", bundle)
    try ada.forget(Self.secret)
    try ada.write("2.txt", "stays\nunsaved\n")
    return try applying(
      bundle, "ada", in: work,
      ["1.txt": "Wifi\nkey [forgotten]!\nof cea\n", "2.txt": "stays\nunsaved\n"])
  }

  /// Ada and Cea, who had the same, each had something else forgotten, and Ada joins both.
  private func joining() throws -> InterruptedCommand {
    let (work, ada, cea) = try pair(as: "admin")
    let bundle = work.path + "/template/same.bundle"
    try cea.write("2.txt", "stays\n\(Self.other)\n")
    try cea.succeed("bundle", "create", bundle)
    try ada.succeed("bundle", "apply", bundle)
    try ada.forget(Self.secret)
    try cea.forget(Self.other)
    try cea.write("4.txt", "of cea\n")
    let forgotten = work.path + "/template/forgotten.bundle"
    try cea.succeed("bundle", "create", forgotten)
    try ada.write("3.txt", "unsaved \(Self.other)\n")
    return try applying(
      forgotten, "ada", in: work,
      [
        "1.txt": "Wifi\nkey [forgotten]!\nof cea\n", "2.txt": "stays\n[forgotten]\n",
        "3.txt": "unsaved [forgotten]\n", "4.txt": "of cea\n",
      ]
    ) { try $0.checkIsListed() }
  }

  /// Two members, of whom Cea has written more.
  private func pair(as role: String = "writer") throws -> (
    work: MemoryFolder, ada: Party, cea: Party
  ) {
    let work = try MemoryFolder()
    let template = work.path + "/template"
    try makeFolder(template)
    let (ada, cea) = (Party("ada", in: template), Party("cea", in: template))
    try ada.write("1.txt", "Wifi\nkey \(Self.secret)\n")
    try ada.write("2.txt", "stays\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try cea.join(ada, as: role)
    try cea.write("1.txt", "Wifi\nkey \(Self.secret)!\nof cea\n")
    try cea.succeed("save")
    return (work, ada, cea)
  }

  private func applying(
    _ bundle: String, _ name: String, in work: MemoryFolder, _ files: [String: String],
    andCheck check: @escaping @Sendable (Party) throws -> Void = { _ in }
  ) throws -> InterruptedCommand {
    try InterruptedCommand(["bundle", "apply", bundle], of: name, in: work) { party, isDone in
      try party.succeed("status")
      try party.succeed("save")
      try party.checkGit()
      if isDone { try Self.check(party, files) }
      try party.succeed("bundle", "apply", bundle)
    } check: { party in
      try Self.check(party, files)
      try check(party)
      let status = try party.succeed("status", "--json").text
      guard status.contains("\"notebook\"") else { throw FaultRun.Violation(description: status) }
    }
  }
}

extension MovingOverFaultTests {
  private static func check(_ party: Party, _ files: [String: String]) throws {
    for text in [secret, other] { try party.check(without: text, files) }
  }
}

extension Party {
  /// Its list of forgettings is on top of all rewritten versions.
  fileprivate func checkIsListed() throws {
    let above = try run(
      [
        "git", "-C", notebook, "rev-list", "--header", "HEAD", "^refs/notes-state/forgotten",
      ], environment: TestEnvironment.isolated(home: folder + "/home"))
    guard above.isSuccess, !above.text.contains("notes-forgot ") else {
      throw FaultRun.Violation(description: "above the list: \(above)")
    }
    let kept = try run(["git", "-C", notebook, "for-each-ref", "refs/notes-state/rescued"])
    guard kept.text.isEmpty else { throw FaultRun.Violation(description: "kept: \(kept.text)") }
  }

  /// Forgets a text.
  func forget(_ text: String) throws {
    let forgotten = try run(
      [BuiltBinary.notes(), "forget", "--text", "--yes"], in: notebook,
      environment: TestEnvironment.isolated(home: folder + "/home"), input: Array(text.utf8))
    guard forgotten.isSuccess else { throw FaultRun.Violation(description: "\(forgotten)") }
  }

  /// Joins the notebook of another party.
  func join(_ other: Party, as role: String = "writer") throws {
    let invite = try other.listen(["invite", "--role", role])
    defer { invite.process.send(9) }
    guard let port = invite.port, let code = invite.code else {
      throw FaultRun.Violation(description: "no invitation: \(try invite.process.wait())")
    }
    try succeed(
      "join", code, notebook, "--yes", "--name", name, "--no-discovery", "--at",
      "127.0.0.1:\(port)")
    _ = try? invite.process.wait(within: 40)
  }
}
