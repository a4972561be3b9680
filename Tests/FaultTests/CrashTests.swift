import Glibc
import Synchronization
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

  /// Interrupts every call, or with many of them a choice; `NOTES_FAULTS=all` leaves none out.
  private func sweep(_ run: FaultRun, _ faults: [Fault]) throws {
    let clock = ContinuousClock()
    let began = clock.now
    var random = SplitMix64.reported(for: "\(run.scenario)")
    var points = faults.flatMap { fault in
      (1...run.calls.count).compactMap { point -> (point: Int, fault: Fault)? in
        // Torn differs from killed only in writes.
        fault == .torn && !run.calls[point - 1].contains("write ") ? nil : (point, fault)
      }
    }
    let all = points.count
    if TestEnvironment.variable("NOTES_FAULTS") != "all" {
      let budget = faults.contains(.kill) ? 300 : 120
      points = Array(points.shuffled(using: &random).prefix(budget))
    }
    let shared = points
    let next = Atomic(0)
    let violations = Mutex<[String]>([])
    let unnoticed = Mutex<[String]>([])
    let workers = (0..<2).map { _ in
      EventLog<Bool>()
    }
    for worker in workers {
      startThread {
        while true {
          let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard index < shared.count else { break }
          do {
            let said = try run.interrupt(at: shared[index].point, by: shared[index].fault)
            if said == "" {
              let call = run.calls[shared[index].point - 1]
              unnoticed.withLock { $0.append("\(shared[index].fault) \(call)") }
            }
          } catch {
            violations.withLock { $0.append("\(error)") }
          }
        }
        worker.append(true)
      }
    }
    for worker in workers { _ = worker.wait(within: 600) { !$0.isEmpty } }
    let kinds = Dictionary(grouping: run.calls) { $0.prefix { $0 != " " } }
      .map { "\($0.value.count) \($0.key)" }.sorted()
    let seconds = (clock.now - began) / .seconds(1)
    print(
      "\(run.scenario): \(run.calls.count) calls (\(kinds.joined(separator: ", "))),"
        + " \(shared.count) of \(all) interruptions"
        + " (\(faults.map(\.description).joined(separator: "; "))), of which"
        + " \(unnoticed.withLock { $0.count }) did not matter, \(Int(seconds)) s")
    let found = violations.withLock { $0 }
    #expect(found.isEmpty, "\(found.count) violations, the first: \(found.first ?? "")")
    if TestEnvironment.variable("NOTES_FAULTS_LIST") != nil {
      for violation in found { print(violation) }
      for call in unnoticed.withLock({ $0 }) { print("did not matter: \(call)") }
    }
  }
}
