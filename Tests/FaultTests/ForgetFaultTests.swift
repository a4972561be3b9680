import FoundationEssentials
import Git
import Glibc
import TestSupport
import Testing

/// notes-forget(1), "On the disk": "If the command is killed or fails before this step, the notebook
/// stays as it was; after this step, it is rewritten."
@Suite("Forgetting, interrupted at every call that changes the file system", .serialized)
struct ForgetFaultTests {
  private static let secret = "hunter2-pass-9f"

  @Test("killed there, there is the one history or the other, whole")
  func killed() throws {
    try forgetting().sweep(
      "notes forget", [.kill, .torn, .power], budget: TestEnvironment.amount(12, inFull: 40))
  }

  @Test("failing there, there is the one history or the other, whole")
  func failed() throws {
    try forgetting().sweep(
      "notes forget",
      [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO)],
      budget: TestEnvironment.amount(8, inFull: 24))
  }

  private func forgetting() throws -> InterruptedCommand {
    let work = try MemoryFolder()
    try makeFolder(work.path + "/template")
    let ada = Party("ada", in: work.path + "/template")
    try ada.write("1.txt", "Wifi\nkey \(Self.secret)\n")
    try ada.write("2.txt", "stays\n")
    try ada.succeed("init", "--name", "Home", "--device-name", "ada")
    try ada.succeed("save")
    try ada.write("2.txt", "stays\nand grows\n")
    try ada.succeed("save")
    try ada.write("2.txt", "stays\nand grows\nunsaved\n")
    return try InterruptedCommand(["forget", "1", "--yes"], of: "ada", in: work) { ada, isDone in
      try ada.succeed("status")
      // The next command that writes removes what is left of the other one.
      try ada.succeed("save")
      try ada.checkGit()
      let log = try ada.succeed("log", "--json")
      guard (2...5).contains(log.lines.count) else {
        throw FaultRun.Violation(description: "\(log.lines.count) versions")
      }
      guard log.text.contains("\"1.txt\"") else { return }
      if isDone { throw FaultRun.Violation(description: "it said that it was done") }
      try ada.succeed("forget", "1", "--yes")
    } check: { ada in
      try ada.check(without: Self.secret, ["2.txt": "stays\nand grows\nunsaved\n"])
      let history = try run(["git", "-C", ada.notebook, "log", "--format=%s", "--", "2.txt"])
      guard history.lines.count == 3 else { throw FaultRun.Violation(description: "\(history)") }
    }
  }
}
