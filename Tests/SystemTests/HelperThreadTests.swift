import Glibc
import Synchronization
import System
import TestSupport
import Testing

@Suite("A thread that helps")
struct HelperThreadTests {
  /// Work in shares, as the folder's scan has it, that notices what is done twice or too late.
  private final class Work: Sendable {
    let next = Atomic(0)
    let isOver = Atomic(false)
    let late = Atomic(0)
    let shares: Mutex<[Int]>

    init(shares count: Int) { shares = Mutex([Int](repeating: 0, count: count)) }

    func run() {
      if isOver.load(ordering: .sequentiallyConsistent) {
        late.wrappingAdd(1, ordering: .sequentiallyConsistent)
      }
      while true {
        let share = next.wrappingAdd(1, ordering: .relaxed).oldValue
        let isNone = shares.withLock { shares in
          guard share < shares.count else { return true }
          shares[share] += 1
          return false
        }
        if isNone { return }
      }
    }
  }

  @Test("every share is done once, and none after the end, however late the helper comes")
  func sharesAreDoneOnce() {
    let works = (0..<2_000).map { Work(shares: $0 % 50) }
    for work in works {
      let helper = HelperThread { work.run() }
      work.run()
      helper.join()
      work.isOver.store(true, ordering: .sequentiallyConsistent)
      #expect(work.shares.withLock { $0.allSatisfy { $0 == 1 } })
    }
    // Some helpers of the rounds above begin only now.
    #expect(works.allSatisfy { $0.late.load(ordering: .sequentiallyConsistent) == 0 })
  }

  @Test("a helper that has begun is waited for")
  func waitsForTheEnd() {
    let log = EventLog<String>()
    let helper = HelperThread {
      log.append("begun")
      for _ in 0..<1_000 { sched_yield() }
      log.append("done")
    }
    #expect(log.next() == "begun")
    helper.join()
    #expect(log.all == ["begun", "done"])
    helper.join()
  }

  @Test("once it has begun, it may run on every processor that the program may use")
  func runsAnywhere() {
    let log = EventLog<String>()
    let helper = HelperThread { log.append(allowedProcessors("/proc/thread-self/status")) }
    let seen = log.next()
    helper.join()
    #expect(seen == allowedProcessors("/proc/self/status"))
  }
}

/// The line of a status file of proc(5) that tells on which processors a thread may run.
private func allowedProcessors(_ path: String) -> String {
  guard let file = fopen(path, "r") else { return "\(path) cannot be read" }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 4096)
  while let start = fgets(&line, Int32(line.count), file) {
    let text = String(cString: start)
    if text.hasPrefix("Cpus_allowed_list:") { return text }
  }
  return "\(path) does not tell"
}
