import FoundationEssentials
import Git
import Glibc
import TestSupport

/// Plays of one story, each from the same state: without a fault first, which tells what every
/// interrupted one must come to and which calls there are to interrupt.
final class StoryRun: Sendable {
  /// What the parties come to: tips, and the files in their folders.
  struct Outcome: Equatable {
    var tips: [String: String] = [:]
    var files: [String: [UInt8]] = [:]
  }

  let story: Story
  /// The victim's calls that change the file system, in order: `KIND PATH`.
  let calls: [String]
  let outcome: Outcome

  private let work: MemoryFolder
  private var template: String { work.path + "/template" }

  init(_ story: Story) throws {
    self.story = story
    let work = try MemoryFolder()
    self.work = work
    try makeFolder(work.path + "/template")
    try Story.prepare(work.path + "/template")
    let folder = work.path + "/plain"
    try Self.copy(work.path + "/template", of: story, to: folder)
    let played = try story.play(folder, ["FAULT_LOG": work.path + "/log"])
    guard case .exited(let code) = played.status, code == 0 || code == 3 else {
      throw FaultRun.Violation(description: "\(story): \(played)")
    }
    calls = String(decoding: try readFile(work.path + "/log"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    outcome = try Self.outcome(of: story, in: folder)
    removeTree(folder)
  }

  deinit { work.remove(["template", "home", "log", "plain"]) }

  /// Interrupts the victim's call number `point`, plays the story again, and checks what must hold.
  ///
  func interrupt(at point: Int, by fault: Fault) throws -> Play {
    let folder = work.path + "/\(point) \(fault)"
    do {
      try Self.copy(template, of: story, to: folder)
      let play = try play(point, fault, in: folder)
      removeTree(folder)
      return play
    } catch {
      throw FaultRun.Violation(
        description: "\(story), call \(point) of \(calls.count) (\(calls[point - 1])), \(fault):"
          + " \(error)\nKept in \(folder)")
    }
  }

  /// The state that a play starts from: a copy of what belongs to those who take part.
  private static func copy(_ template: String, of story: Story, to folder: String) throws {
    try makeFolder(folder)
    for name in story.parties {
      try FileManager.default.copyItem(
        atPath: Party(name, in: template).folder, toPath: Party(name, in: folder).folder)
    }
  }

  private func play(_ point: Int, _ fault: Fault, in folder: String) throws -> Play {
    let met = folder + "/met"
    let broken = try story.play(
      folder, fault.environment.merging(["FAULT_AT": "\(point)", "FAULT_MET": met]) { $1 })
    let isKilled = broken.status == .signalled(SIGKILL)
    if case .signalled = broken.status, !(fault.isDeath && isKilled), !isTerminated(broken) {
      throw FaultRun.Violation(description: "ended in an unforeseen way: \(broken)")
    }
    let victim = Party(story.victim, in: folder)
    if fault != .power { try checkGit(victim) }
    if access(victim.notebook + "/.git/notes/notebook", F_OK) == 0 {
      try victim.succeed("status")
    } else if access(victim.notebook + "/.git", F_OK) == 0 {
      throw FaultRun.Violation(description: "left a repository that is no notebook")
    }
    let again = try story.play(folder, [:])
    guard isDone(again) else {
      throw FaultRun.Violation(
        description: "broken: \(broken)\nthe next command: \(again)")
    }
    let reached = try Self.outcome(of: story, in: folder)
    guard reached == outcome else {
      throw FaultRun.Violation(
        description: "came to \(reached.tips) instead of \(outcome.tips), other files:"
          + " \(reached.files.filter { outcome.files[$0.key] != $0.value }.keys.sorted())\n\(broken)"
      )
    }
    for name in story.parties {
      let party = Party(name, in: folder)
      try checkGit(party)
      try checkLeftovers(party)
    }
    if access(met, F_OK) != 0 { return .unreached }
    return !fault.isDeath && isDone(broken) ? .harmless : .broken
  }

  /// Conflicts to be resolved are no failure.
  private func isDone(_ result: ProcessResult) -> Bool {
    result.isSuccess || result.status == .exited(3) || isTerminated(result)
  }

  /// A service ends by SIGTERM.
  private func isTerminated(_ result: ProcessResult) -> Bool {
    result.status == .signalled(SIGTERM) || result.status == .exited(130)
      || result.status == .exited(143)
  }

  /// "`git fsck --strict` works on every notebook at every moment."
  private func checkGit(_ party: Party) throws {
    guard party.tip() != nil else { return }
    let checked = try run(
      ["git", "-C", party.notebook, "fsck", "--strict", "--no-dangling", "--no-progress"],
      environment: TestEnvironment.isolated(home: work.path + "/home"))
    guard checked.isSuccess, checked.errorText.isEmpty else {
      throw FaultRun.Violation(description: "git fsck of \(party.name): \(checked)")
    }
  }

  private func checkLeftovers(_ party: Party) throws {
    let found =
      try FileManager.default.subpathsOfDirectory(atPath: party.notebook + "/.git")
      .filter {
        $0.hasSuffix(".lock") && $0 != "notes/gc.lock" || $0.hasPrefix("notes/checkout/")
          || $0.hasPrefix("refs/notes-state/rescued") || $0.hasPrefix("notes/lingering/")
          || $0.hasPrefix("notes/membership.")
      } + (access(party.notebook + "/.git.new", F_OK) == 0 ? [".git.new"] : [])
    guard found.isEmpty else {
      throw FaultRun.Violation(description: "left behind at \(party.name)'s: \(found)")
    }
  }

  private static func outcome(of story: Story, in folder: String) throws -> Outcome {
    var outcome = Outcome()
    for name in story.parties {
      let party = Party(name, in: folder)
      outcome.tips[name] = party.tip()?.hex ?? "none"
      for path in try FileManager.default.subpathsOfDirectory(atPath: party.notebook)
      where !path.hasPrefix(".git/") && path != ".git" {
        var status = stat()
        guard lstat(party.notebook + "/" + path, &status) == 0 else { continue }
        outcome.files["\(name)/\(path)"] =
          status.st_mode & S_IFMT == S_IFREG ? try readFile(party.notebook + "/" + path) : [0]
      }
    }
    return outcome
  }
}
