import System
import TestSupport
import Testing

@Suite("Waiting and waking", .timeLimit(.minutes(20)))
struct WaitingTests {
  @Test("an instant comes once, and one that never comes does not")
  func instants() {
    let soon = Instant.now + 600
    #expect(!soon.hasPassed)
    #expect((1...600_000).contains(soon.pollTimeout))
    let past = Instant.now + -0.001
    #expect(past.hasPassed)
    #expect(past.pollTimeout == 0 && past.secondsLeft == 0)
    #expect(Instant.never.pollTimeout == -1)
    #expect(!Instant.never.hasPassed)
    #expect(soon < .never)
    #expect(soon + 2 - soon == 2)
  }

  @Test("a signal is there until it is cleared, however often it was given")
  func signals() throws {
    let wakeUp = try WakeUp()
    #expect(!Poll.isReadable(wakeUp.descriptor))
    for _ in 0..<3 { wakeUp.signal() }
    #expect(Poll.isReadable(wakeUp.descriptor))
    wakeUp.clear()
    #expect(Poll.wait(for: [wakeUp.descriptor], until: .now + 0.01).isEmpty)
  }

  @Test("who waits is told which of the descriptors is ready, and for what")
  func readiness() throws {
    let pipe = try Pipe()
    let wakeUp = try WakeUp()
    #expect(
      Poll.wait(for: [-1, pipe.readEnd], toWrite: pipe.writeEnd, until: .never)
        == [pipe.writeEnd])
    let descriptor = wakeUp.descriptor
    startThread { WakeUp.signal(descriptor) }
    #expect(Poll.wait(for: [pipe.readEnd, descriptor]) == [descriptor])
  }

  @Test("a token that is cancelled calls who asked for it, and not after another was")
  func cancellation() throws {
    let called = BlockingQueue<Int>()
    let (token, other, third) = (
      try CancellationToken(), try CancellationToken(), try CancellationToken()
    )
    try token.whenCancelled(unless: other) { called.put(1) }
    try other.whenCancelled(unless: third) { called.put(2) }
    third.cancel()
    #expect(called.take(until: .now + 0.05) == nil)
    token.cancel()
    #expect(called.take(until: .now + 20) == 1)
    #expect(token.isCancelled && !other.isCancelled)
  }

  @Test("values are taken in the order in which they were put, and not waited for in vain")
  func queue() {
    let queue = BlockingQueue<Int>()
    #expect(queue.take(until: .now + 0.01) == nil)
    startThread { for number in 0..<100 { queue.put(number) } }
    #expect((0..<100).allSatisfy { queue.take(until: .now + 20) == $0 })
  }

  @Test("a latch lets those through that wait and those that come later")
  func latch() {
    let (latch, passed) = (Latch(), BlockingQueue<Bool>())
    #expect(!latch.wait(until: .now + 0.01))
    for _ in 0..<3 { startThread { passed.put(latch.wait(until: .now + 20)) } }
    latch.open()
    #expect((0..<3).allSatisfy { _ in passed.take(until: .never) == true })
    #expect(latch.wait(until: .now))
  }
}
