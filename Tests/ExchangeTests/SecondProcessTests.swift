import Git
import Glibc
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "A visit": other processes work at the notebook while one is at a hub.
@Suite("A second process of a notebook", .timeLimit(.minutes(5)))
struct SecondProcessTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    for device in [ada, bob] { try device.meet(hub) }
  }

  /// A visit by Ada, which has fetched what the hub has, and waits where git would end.
  private func beginVisit() throws -> (visit: Visit, goOn: () throws -> Void) {
    let (program, gate, mark) = (ada.folder["program"], ada.folder["gate"], ada.folder["fetched"])
    try #require(mkfifo(gate, 0o600) == 0)
    let script = """
      #!/bin/sh
      git "$@"
      status=$?
      case "$*" in *fetch*) if [ ! -e '\(mark)' ]; then : >'\(mark)'; read -r word <'\(gate)'; fi;; esac
      exit $status

      """
    try writeFile(program, Array(script.utf8))
    chmod(program, 0o755)
    let visit = Visit()
    let (context, hub) = (ada.context, hub.hub)
    TestSupport.startThread {
      visit.put(Result { try context.visit([hub]) { $0.program.name = program } })
    }
    let deadline = Instant.now + 60
    while access(mark, F_OK) != 0, !deadline.hasPassed { sched_yield() }
    return (visit, { try writeFile(gate, Array("go\n".utf8)) })
  }

  private typealias Visit = BlockingQueue<
    Result<(outcome: SyncOutcome, events: [Event]), any Error>
  >

  private func end(_ visit: Visit) throws -> (outcome: SyncOutcome, events: [Event]) {
    try #require(visit.take(until: .now + 30), "the visit still waits").get()
  }

  @Test("merges what a visit has fetched: the visit sees that, and ends")
  func merges() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let (visit, goOn) = try beginVisit()
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    try goOn()
    let (outcome, events) = try end(visit)
    #expect(outcome.failures.isEmpty)
    #expect(outcome.sessions.first?.isInSync == true)
    #expect(try hub.tip() == ada.tip() && ada.text("B.txt") == "by bob\n")
    // The other one has moved the hub on: it did not go back by that.
    #expect(events.rewinds.isEmpty)
  }

  @Test("saves what the visit does not know: that goes to the hub as well")
  func saves() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let (visit, goOn) = try beginVisit()
    try ada.write("two\n", to: "A.txt")
    _ = try ada.context.notebook().save()
    try goOn()
    #expect(try end(visit).outcome.failures.isEmpty)
    #expect(try hub.tip() == ada.tip())
    try bob.meet(hub)
    #expect(try bob.text("A.txt") == "two\n")
  }

  @Test("takes the branch back while a visit is under way: the visit brings it forward again")
  func goesBack() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    let former = try #require(try ada.tip())
    let (visit, goOn) = try beginVisit()
    try ada.meet(hub)
    #expect(try ada.git("reset", "--quiet", "--hard", former.hex).isSuccess)
    try goOn()
    #expect(try end(visit).outcome.failures.isEmpty)
    #expect(try hub.tip() == ada.tip() && ada.text("B.txt") == "by bob\n")
  }
}
