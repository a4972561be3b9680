import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// notes-members(1): "This device keeps the old membership in .git/notes".
@Suite("Starting the membership over, interrupted at every call", .serialized)
struct ResetFaultTests {
  @Test("killed there, there is the one membership or the other, and the former is kept")
  func killed() throws {
    try reset().sweep(
      "notes members reset", [.kill, .torn, .power],
      budget: TestEnvironment.amount(12, inFull: 60), fewestCalls: 30)
  }

  @Test("failing there, there is the one membership or the other, and the former is kept")
  func failed() throws {
    try reset().sweep(
      "notes members reset", [.once(EIO), .once(ENOSPC), .stays(ENOSPC)],
      budget: TestEnvironment.amount(6, inFull: 30), fewestCalls: 30)
  }

  private func reset() throws -> InterruptedCommand {
    let work = try MemoryFolder()
    let ada = Party("ada", in: work.path + "/template")
    try makeFolder(work.path + "/template")
    try ada.write("1.txt", "one\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    let former = try Self.notebookID(ada)
    return try InterruptedCommand(["members", "reset", "--yes"], of: "ada", in: work) {
      ada, isDone in
      // What needs the members puts the two in agreement.
      try ada.succeed("members")
      try ada.succeed("bundle", "create", ada.folder + "/home.bundle")
      try ada.succeed("save")
      if try Self.notebookID(ada) != former { return }
      if isDone { throw FaultRun.Violation(description: "it said that it was done") }
      try ada.succeed("members", "reset", "--yes")
    } check: { ada in
      try Self.check(ada, former: former)
    }
  }

  /// What the program goes by, after all that an interrupted run left was dealt with.
  private static func notebookID(_ ada: Party) throws -> String {
    let text = try ada.succeed("status", "--json").text
    guard let start = text.ranges(of: "\"notebook\":\"").first?.upperBound else {
      throw FaultRun.Violation(description: "no ID in \(text)")
    }
    return String(text[start...].prefix { $0 != "\"" })
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
