import FoundationEssentials
import Git
import Glibc
import TestSupport
import Testing

/// notes-forget(1), "On the disk": "A run that is killed before leaves the notebook as it was, one that is
/// killed after that as it is to be".
@Suite("Forgetting, interrupted at every call that changes the file system", .serialized)
struct ForgetFaultTests {
  @Test("killed there, there is the one history or the other, whole")
  func killed() throws {
    try sweep([.kill, .torn, .power], budget: TestEnvironment.amount(12, inFull: 40))
  }

  @Test("failing there, there is the one history or the other, whole")
  func failed() throws {
    try sweep(
      [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO)],
      budget: TestEnvironment.amount(8, inFull: 24))
  }

  // notes-forget(1), "On the disk": "The next command that writes removes the other repository."
  @Test("where the system does not say that the step is on the disk, the next command goes on")
  func unsureStep() throws {
    let run = try ForgetRuns()
    let points = (1...run.calls.count).filter { run.calls[$0 - 1] == "fsync /notes" }
    try #require(points.count >= 2)
    for point in points { #expect(try run.interrupt(at: point, by: .once(EIO)) != .unreached) }
  }

  private func sweep(_ faults: [Fault], budget: Int) throws {
    let run = try ForgetRuns()
    try Sweep(subject: "notes forget", calls: run.calls, faults: faults, budget: budget)
      .run { try run.interrupt(at: $0, by: $1) }
  }
}

/// Plays of `notes forget` from the same state.
private final class ForgetRuns: Sendable {
  private static let secret = "hunter2-pass-9f"

  /// The calls of the run that change the file system: `KIND PATH`.
  let calls: [String]
  private let work: MemoryFolder
  private var template: String { work.path + "/template" }

  init() throws {
    let work = try MemoryFolder()
    self.work = work
    let ada = Party("ada", in: work.path + "/template")
    try makeFolder(work.path + "/template")
    try ada.write("1.txt", "Wifi\nkey \(Self.secret)\n")
    try ada.write("2.txt", "stays\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try ada.write("2.txt", "stays\nand grows\n")
    try ada.succeed("save")
    try ada.write("2.txt", "stays\nand grows\nunsaved\n")
    let plain = work.path + "/plain"
    try Self.copy(work.path + "/template", to: plain)
    let played = try Party("ada", in: plain).notes(
      "forget", "1", "--yes", faults: ["FAULT_LOG": work.path + "/log"])
    guard played.isSuccess else { throw FaultRun.Violation(description: "\(played)") }
    try Self.checkIsForgotten(Party("ada", in: plain))
    calls = String(decoding: try readFile(work.path + "/log"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    removeTree(plain)
  }

  deinit { work.remove(["template", "log", "plain"]) }

  private static func copy(_ template: String, to folder: String) throws {
    try makeFolder(folder)
    try FileManager.default.copyItem(
      atPath: Party("ada", in: template).folder, toPath: Party("ada", in: folder).folder)
  }

  func interrupt(at point: Int, by fault: Fault) throws -> Play {
    let folder = work.path + "/\(point) \(fault)"
    do {
      try Self.copy(template, to: folder)
      let play = try play(point, fault, Party("ada", in: folder), met: folder + "/met")
      removeTree(folder)
      return play
    } catch {
      throw FaultRun.Violation(
        description: "call \(point) of \(calls.count) (\(calls[point - 1])), \(fault): \(error)"
          + "\nKept in \(folder)")
    }
  }

  private func play(_ point: Int, _ fault: Fault, _ ada: Party, met: String) throws -> Play {
    let broken = try ada.notes(
      "forget", "1", "--yes",
      faults: fault.environment.merging(["FAULT_AT": "\(point)", "FAULT_MET": met]) { $1 })
    if case .signalled(let signal) = broken.status, !(fault.isDeath && signal == SIGKILL) {
      throw FaultRun.Violation(description: "ended in an unforeseen way: \(broken)")
    }
    try ada.succeed("status")
    // The next command that writes removes what is left of the other one.
    try ada.succeed("save")
    try Self.checkGit(ada)
    let log = try ada.succeed("log", "--json").lines.count
    guard (2...5).contains(log) else { throw FaultRun.Violation(description: "\(log) versions") }
    let isLeft = try ada.succeed("log", "--json").text.contains("\"1.txt\"")
    if broken.isSuccess, isLeft { throw FaultRun.Violation(description: "said done: \(broken)") }
    if isLeft { try ada.succeed("forget", "1", "--yes") }
    try Self.checkIsForgotten(ada)
    if access(met, F_OK) != 0 { return .unreached }
    return !fault.isDeath && broken.isSuccess ? .harmless : .broken
  }

  private static func checkGit(_ ada: Party) throws {
    let checked = try run(
      ["git", "-C", ada.notebook, "fsck", "--strict", "--no-dangling", "--no-progress"],
      environment: TestEnvironment.isolated(home: ada.folder + "/home"))
    guard checked.isSuccess, checked.errorText.isEmpty else {
      throw FaultRun.Violation(description: "git fsck: \(checked)")
    }
  }

  private static func checkIsForgotten(_ ada: Party) throws {
    try checkGit(ada)
    let places = try Leftovers(in: ada.notebook).places(of: secret)
    guard places.isEmpty else { throw FaultRun.Violation(description: "left in \(places)") }
    let text = String(decoding: try readFile(ada.notebook + "/2.txt"), as: UTF8.self)
    guard text == "stays\nand grows\nunsaved\n" else {
      throw FaultRun.Violation(description: "2.txt holds \(text)")
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: ada.notebook).filter {
      $0.hasPrefix(".git.new") || $0.hasSuffix(".lock") && !$0.hasSuffix("gc.lock")
    }
    guard left.isEmpty else { throw FaultRun.Violation(description: "left behind: \(left)") }
    let history = try run(["git", "-C", ada.notebook, "log", "--format=%s", "--", "2.txt"])
    guard history.lines.count == 3 else { throw FaultRun.Violation(description: "\(history)") }
  }
}
