import Glibc
import Synchronization
import TestSupport
import Testing

/// Design, promise 3, for whole processes: "Killed at any instant (power cut included), the next run
/// needs no repair, loses nothing, undoes nobody's edit, and reaches the tip it would have reached."
@Suite("Real processes interrupted at every call that changes the file system", .serialized)
struct StoryTests {
  @Test("killed there, the next command comes to the same end", arguments: Story.all)
  func killed(_ story: Story) throws { try sweep(story, [.kill, .torn, .power], budget: 16) }

  @Test("failing there, the next command comes to the same end", arguments: Story.all)
  func failed(_ story: Story) throws {
    try sweep(
      story,
      [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO), .stays(EACCES)],
      budget: 12)
  }

  /// Interrupts every call, or with many of them a choice; `NOTES_FAULTS=all` leaves none out.
  private func sweep(_ story: Story, _ faults: [Fault], budget: Int) throws {
    let began = Moment.now
    var random = SplitMix64.reported(for: "\(story)")
    let run = try StoryRun(story)
    var points = faults.flatMap { fault in
      (1...run.calls.count).compactMap { point -> (point: Int, fault: Fault)? in
        // Torn differs from killed only in writes.
        fault == .torn && !run.calls[point - 1].contains("write ") ? nil : (point, fault)
      }
    }
    let all = points.count
    if TestEnvironment.variable("NOTES_FAULTS") != "all" {
      points = Array(points.shuffled(using: &random).prefix(budget))
    }
    let shared = points
    let next = Atomic(0)
    let reached = Atomic(0)
    let violations = Mutex<[String]>([])
    let workers = (0..<2).map { _ in EventLog<Bool>() }
    for worker in workers {
      startThread {
        while true {
          let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard index < shared.count else { break }
          do {
            if try run.interrupt(at: shared[index].point, by: shared[index].fault) {
              reached.add(1, ordering: .relaxed)
            }
          } catch {
            violations.withLock { $0.append("\(error)") }
          }
        }
        worker.append(true)
      }
    }
    for worker in workers { _ = worker.wait(within: 3_600) { !$0.isEmpty } }
    let kinds = Dictionary(grouping: run.calls) { $0.prefix { $0 != " " } }
      .map { "\($0.value.count) \($0.key)" }.sorted()
    print(
      "\(story): \(run.calls.count) calls (\(kinds.joined(separator: ", "))),"
        + " \(shared.count) of \(all) interruptions"
        + " (\(faults.map(\.description).joined(separator: "; "))), of which"
        + " \(reached.load(ordering: .relaxed)) met their call, \(Int(Moment.now - began)) s")
    let found = violations.withLock { $0 }
    #expect(found.isEmpty, "\(found.count) violations, the first: \(found.first ?? "")")
    if TestEnvironment.variable("NOTES_FAULTS_LIST") != nil {
      for violation in found { print(violation) }
    }
  }
}
