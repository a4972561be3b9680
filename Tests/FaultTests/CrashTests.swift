import Glibc
import TestSupport
import Testing

/// Design, promises 1, 3 and 5.
@Suite("Interrupted at every call that changes the file system")
struct CrashTests {
  /// "Killed at any instant (power cut included), the next run needs no repair, loses nothing, undoes
  /// nobody's edit, and reaches the tip it would have reached."
  @Test("killed there, the next command comes to the same end", arguments: Scenario.all)
  func killed(_ scenario: Scenario) throws {
    let run = try FaultRun(scenario)
    try sweep(run, [.kill, .torn, .power])
  }

  /// "Full disk, read-only folder, permission denied: clear error, nothing lost, goes on when the
  /// cause is gone."
  @Test(
    "failing there, it says so, and the next command comes to the same end",
    arguments: Scenario.all)
  func failed(_ scenario: Scenario) throws {
    let run = try FaultRun(scenario)
    try sweep(
      run, [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO), .stays(EACCES)])
  }

  private func sweep(_ run: FaultRun, _ faults: [Fault]) throws {
    try Sweep(
      subject: "\(run.scenario)", calls: run.calls, faults: faults,
      budget: TestEnvironment.amount(
        faults.contains(.kill) ? 35 : 20, inFull: faults.contains(.kill) ? 70 : 40)
    ).run { try run.interrupt(at: $0, by: $1) }
  }
}
