import TestSupport
import Testing

/// Nothing over a second says nothing: notes-sync(1), notes-json(5), "looking".
@Suite struct LookingTests {
  @Test func `A search that takes long says whom it is for`() throws {
    let ada = try Shell()
    let bob = try Shell()
    try ada.initialise()
    try bob.join(ada, as: "bob")
    let screen = try ada.screen(notes: ["sync", "--no-discovery", "--wait", "4"])
    try screen.wait(for: "Looking for bob ...")
    #expect(!(try screen.wait(for: "left with 4").contains("Looking for bob")))
    let events = try ada.notes("sync", "--no-discovery", "--wait", "1.5", "--json").lines
    #expect(events.filter { $0.contains("looking") } == [#"{"type":"looking","names":["bob"]}"#])
  }
}
