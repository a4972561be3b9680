import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Plays of a command of one party, from the same state, each with a fault at one call.
final class InterruptedCommand: Sendable {
  /// The calls of the run that change the file system: `KIND PATH`.
  let calls: [String]
  private let words: [String]
  private let name: String
  private let work: MemoryFolder
  private let countsChildren: Bool
  private let prepare: @Sendable (Party) throws -> Void
  private let goOn: @Sendable (Party, _ isDone: Bool) throws -> Void
  private let check: @Sendable (Party) throws -> Void

  /// - Parameters:
  ///   - work: its folder `template` has the party as it is before the command.
  ///   - countsChildren: whether the calls of its child processes count, too, and whichever process makes the
  ///     call is interrupted.
  ///   - prepare: what a copy of the party needs before it is played with.
  ///   - goOn: what the next commands do, whether the run said that it was done or not.
  ///   - check: how the party is to be found then.
  init(
    _ words: [String], of name: String, in work: MemoryFolder,
    countsChildren: Bool = false, prepare: @escaping @Sendable (Party) throws -> Void = { _ in },
    goOn: @escaping @Sendable (Party, _ isDone: Bool) throws -> Void,
    check: @escaping @Sendable (Party) throws -> Void
  ) throws {
    (self.words, self.name, self.work, self.goOn, self.check) = (words, name, work, goOn, check)
    (self.countsChildren, self.prepare) = (countsChildren, prepare)
    let plain = work.path + "/plain"
    let party = try Self.copy(name, work.path + "/template", to: plain)
    try prepare(party)
    let played = try party.start(words, ["FAULT_LOG": work.path + "/log"]).wait(within: 180)
    guard played.isSuccess else { throw FaultRun.Violation(description: "\(played)") }
    try check(party)
    calls = String(decoding: try readFile(work.path + "/log"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    removeTree(plain)
  }

  deinit { work.remove(["template", "log", "plain"]) }

  private static func copy(_ name: String, _ template: String, to folder: String) throws -> Party {
    try makeFolder(folder)
    let party = Party(name, in: folder)
    try FileManager.default.copyItem(
      atPath: Party(name, in: template).folder, toPath: party.folder)
    return party
  }

  /// Plays the faults at its calls, or a choice of so many; with `isStart`, only at those from the last such call on.
  func sweep(
    _ subject: String, _ faults: [Fault], budget: Int, fewestCalls: Int = 60,
    from isStart: (String) -> Bool = { _ in false }
  ) throws {
    try Sweep(
      subject: subject, calls: calls, faults: faults, budget: budget, fewestCalls: fewestCalls,
      first: (calls.lastIndex(where: isStart) ?? 0) + 1
    )
    .run { try self.interrupt(at: $0, by: $1) }
  }

  private func interrupt(at point: Int, by fault: Fault) throws -> Play {
    let folder = work.path + "/\(point) \(fault)"
    do {
      let party = try Self.copy(name, work.path + "/template", to: folder)
      try prepare(party)
      let play = try play(point, fault, party, in: folder)
      removeTree(folder)
      return play
    } catch {
      throw FaultRun.Violation(
        description: "call \(point) of \(calls.count) (\(calls[point - 1])), \(fault): \(error)"
          + "\nKept in \(folder)")
    }
  }

  private func play(
    _ point: Int, _ fault: Fault, _ party: Party, in folder: String
  ) throws -> Play {
    let met = folder + "/met"
    var faults = fault.environment.merging(["FAULT_AT": "\(point)", "FAULT_MET": met]) { $1 }
    let counter = folder + "/counter"
    if countsChildren { faults["FAULT_COUNTER"] = counter }
    let broken = try party.start(words, faults).wait(within: 180)
    if countsChildren {
      // A child goes on where its parent was killed. Each holds the lock.
      let file = open(counter, O_RDONLY | O_CLOEXEC)
      guard file >= 0, flock(file, LOCK_EX) == 0 else { throw SystemError("flock", counter) }
      close(file)
    }
    if case .signalled(let signal) = broken.status, !(fault.isDeath && signal == SIGKILL) {
      throw FaultRun.Violation(description: "ended in an unforeseen way: \(broken)")
    }
    try goOn(party, broken.isSuccess)
    try check(party)
    if access(met, F_OK) != 0 { return .unreached }
    return !fault.isDeath && broken.isSuccess ? .harmless : .broken
  }
}

extension Party {
  /// Git finds nothing wrong with it, and nothing half made or locked is left.
  func checkGit() throws {
    let checked = try run(
      ["git", "-C", notebook, "fsck", "--strict", "--no-dangling", "--no-progress"],
      environment: TestEnvironment.isolated(home: folder + "/home"))
    guard checked.isSuccess, checked.errorText.isEmpty else {
      throw FaultRun.Violation(description: "git fsck: \(checked)")
    }
  }

  /// A text is nowhere in it, these files hold these texts, and nothing is left of the way there.
  func check(without secret: String, _ files: [String: String]) throws {
    try checkGit()
    let places = try Leftovers(in: notebook).places(of: secret)
    guard places.isEmpty else { throw FaultRun.Violation(description: "left in \(places)") }
    for (name, text) in files {
      let held = String(decoding: try readFile(notebook + "/" + name), as: UTF8.self)
      guard held == text else { throw FaultRun.Violation(description: "\(name) holds \(held)") }
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: notebook).filter {
      $0.hasPrefix(".git.new") || $0.hasSuffix(".lock") && !$0.hasSuffix("gc.lock")
    }
    guard left.isEmpty else { throw FaultRun.Violation(description: "left behind: \(left)") }
  }
}
