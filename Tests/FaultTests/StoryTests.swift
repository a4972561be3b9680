import Glibc
import TestSupport
import Testing

/// Design, promise 3, for whole processes: "Killed at any instant (power cut included), the next run
/// needs no repair, loses nothing, undoes nobody's edit, and reaches the tip it would have reached."
@Suite("Real processes interrupted at every call that changes the file system", .serialized)
struct StoryTests {
  @Test("killed there, the next command comes to the same end", arguments: Story.all)
  func killed(_ story: Story) throws {
    try sweep(story, [.kill, .torn, .power], budget: TestEnvironment.amount(8, inFull: 16))
  }

  @Test("failing there, the next command comes to the same end", arguments: Story.all)
  func failed(_ story: Story) throws {
    try sweep(
      story,
      [.once(EIO), .once(EACCES), .once(ENOSPC), .stays(ENOSPC), .stays(EIO), .stays(EACCES)],
      budget: TestEnvironment.amount(6, inFull: 12))
  }

  private func sweep(_ story: Story, _ faults: [Fault], budget: Int) throws {
    let run = try StoryRun(story)
    try Sweep(subject: "\(story)", calls: run.calls, faults: faults, budget: budget)
      .run { try run.interrupt(at: $0, by: $1) }
  }
}
