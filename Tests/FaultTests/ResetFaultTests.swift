import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// notes-members(1): "What was known of the old membership is kept in .git/notes".
@Suite("Starting the membership over, interrupted at every call", .serialized)
struct ResetFaultTests {
  @Test("killed there, there is the one membership or the other, and the former is kept")
  func killed() throws {
    try sweep([.kill, .torn, .power], budget: TestEnvironment.amount(12, inFull: 60))
  }

  @Test("failing there, there is the one membership or the other, and the former is kept")
  func failed() throws {
    try sweep(
      [.once(EIO), .once(ENOSPC), .stays(ENOSPC)], budget: TestEnvironment.amount(6, inFull: 30))
  }

  private func sweep(_ faults: [Fault], budget: Int) throws {
    let run = try ResetRuns()
    try Sweep(
      subject: "notes members reset", calls: run.calls, faults: faults, budget: budget,
      fewestCalls: 30
    )
    .run { try run.interrupt(at: $0, by: $1) }
  }
}

/// Plays of `notes members reset` from the same state.
private final class ResetRuns: Sendable {
  /// The calls of the run that change the file system: `KIND PATH`.
  let calls: [String]
  private let work: MemoryFolder
  private let formerID: String
  private var template: String { work.path + "/template" }

  init() throws {
    let work = try MemoryFolder()
    self.work = work
    let ada = Party("ada", in: work.path + "/template")
    try makeFolder(work.path + "/template")
    try ada.write("1.txt", "one\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    formerID = try Self.notebookID(ada)
    let plain = work.path + "/plain"
    try Self.copy(work.path + "/template", to: plain)
    let played = try Party("ada", in: plain).notes(
      "members", "reset", "--yes", faults: ["FAULT_LOG": work.path + "/log"])
    guard played.isSuccess else { throw FaultRun.Violation(description: "\(played)") }
    try Self.check(Party("ada", in: plain), former: formerID)
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

  /// What the program goes by, after all that an interrupted run left was dealt with.
  private static func notebookID(_ ada: Party) throws -> String {
    let text = try ada.succeed("status", "--json").text
    guard let start = text.ranges(of: "\"notebook\":\"").first?.upperBound else {
      throw FaultRun.Violation(description: "no ID in \(text)")
    }
    return String(text[start...].prefix { $0 != "\"" })
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
      "members", "reset", "--yes",
      faults: fault.environment.merging(["FAULT_AT": "\(point)", "FAULT_MET": met]) { $1 })
    if case .signalled(let signal) = broken.status, !(fault.isDeath && signal == SIGKILL) {
      throw FaultRun.Violation(description: "ended in an unforeseen way: \(broken)")
    }
    // What needs the members puts the two in agreement.
    try ada.succeed("members")
    try ada.succeed("bundle", "create", ada.folder + "/home.bundle")
    try ada.succeed("save")
    let isReset = try Self.notebookID(ada) != formerID
    if broken.isSuccess, !isReset {
      throw FaultRun.Violation(description: "said done: \(broken)")
    }
    if !isReset { try ada.succeed("members", "reset", "--yes") }
    try Self.check(ada, former: formerID)
    if access(met, F_OK) != 0 { return .unreached }
    return !fault.isDeath && broken.isSuccess ? .harmless : .broken
  }

  /// One founder, who goes by the new membership; the former one is there, whole.
  private static func check(_ ada: Party, former: String) throws {
    let state = ada.notebook + "/.git/notes"
    guard try notebookID(ada) != former else { throw FaultRun.Violation(description: "not reset") }
    let members = try ada.succeed("members", "--json").lines
    guard members.count == 1, members[0].contains("\"role\":\"admin\"") else {
      throw FaultRun.Violation(description: "\(members)")
    }
    let known = String(decoding: try readFile(state + "/membership/formerly"), as: UTF8.self)
    guard known.contains(former) else {
      throw FaultRun.Violation(description: "formerly: \(known)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: state)
    let kept = names.contains {
      $0.hasPrefix("membership-") && $0.count > 15 && former.hasPrefix($0.dropFirst(11))
    }
    guard kept else {
      throw FaultRun.Violation(description: "the former membership is not in \(names)")
    }
    // The clock of the plays stands still.
    let doctor = try ada.notes("doctor", "--no-discovery")
    guard doctor.text.contains("ok       members"), doctor.text.contains("ok       device key"),
      doctor.text.contains("ok       state")
    else { throw FaultRun.Violation(description: "\(doctor)") }
  }
}
