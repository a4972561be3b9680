import Git
import Glibc
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "The branch": one history goes where it is, whatever a device calls its branch.
@Suite("The branch at a hub", .timeLimit(.minutes(5)))
struct HubBranchTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    _ = try ada.notebook().save()
    // As in a repository that was there before the notebook.
    try #require(try ada.git("branch", "-m", "main", "master").isSuccess)
  }

  private func branches() throws -> [String] {
    try TestSupport.run([
      "git", "-C", hub.path, "for-each-ref", "--format=%(refname:short)", "refs/heads",
    ])
    .lines
  }

  @Test("one began on master, another joined on main: they meet")
  func meet() throws {
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.text("A.txt") == "one\n")
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    #expect(try ada.text("B.txt") == "by bob\n" && ada.tip() == bob.tip())
    try ada.write("two\n", to: "A.txt")
    for device in [ada, bob] { try device.meet(hub) }
    #expect(try bob.text("A.txt") == "two\n")
    #expect(try branches().count == 1)
  }

  @Test("a hub that is split already is told, and comes together again")
  func split() throws {
    _ = try sync(bob, ada)
    for (device, branch) in [(ada, "master"), (bob, "main")] {
      try device.write("by \(device.name)\n", to: "\(device.name).txt")
      _ = try device.context.notebook().save()
      try #require(
        try device.git("push", "-q", hub.path, "HEAD:refs/heads/\(branch)").isSuccess)
    }
    let (outcome, events) = try ada.visit(hub.hub)
    let told = events.contains {
      if case .hubSplit(_, "main", "master") = $0 { true } else { false }
    }
    #expect(told && outcome.sessions.first?.isInSync == true)
    for device in [bob, ada] { try device.meet(hub) }
    #expect(try ada.tip() == bob.tip())
    #expect(try ada.text("Bob.txt") == "by Bob\n" && bob.text("Ada.txt") == "by Ada\n")
    let tips = try TestSupport.run(["git", "-C", hub.path, "rev-parse", "main", "master"]).lines
    #expect(tips.count == 2 && tips[0] == tips[1])
  }

  @Test("who clones an empty hub of another branch gets the notes after the first push")
  func emptyHub() throws {
    try #require(
      try TestSupport.run(["git", "-C", hub.path, "symbolic-ref", "HEAD", "refs/heads/other"])
        .isSuccess)
    try ada.meet(hub)
    let person = try hub.clone(as: "carl")
    #expect(access(person.folder + "/A.txt", F_OK) == 0)
  }

  @Test("a device that joins gets the notebook's branch")
  func joining() {
    #expect(Notebook.branch(offered: "master") == "master")
    #expect(Notebook.branch(offered: nil) == "main")
    for name in ["", "a..b", "-x\u{7}", "a b", "x.lock"] {
      #expect(Notebook.branch(offered: name) == "main")
    }
  }
}
