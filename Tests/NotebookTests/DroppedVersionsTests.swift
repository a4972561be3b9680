import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook

/// notes-undo(1), "Versions that git dropped": "A version that notes made stays".
@Suite("Versions that git commands drop")
struct DroppedVersionsTests {
  let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "first\n")
    _ = try home.notebook.save()
    home.seconds.now += 60
  }

  @discardableResult
  func git(_ arguments: String...) throws -> String { try home.git(arguments) }

  func save(_ text: String) throws -> ObjectID {
    try home.write("a.txt", text)
    home.seconds.now += 60
    return try #require(try home.notebook.save().version)
  }

  /// Git's housekeeping at its strictest.
  func prune() throws {
    try git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    try git("gc", "-q", "--prune=now")
    try git("fsck", "--strict")
  }

  func kept() throws -> [DroppedVersions] {
    try DroppedVersions.all(in: Repository.open(at: home.path))
  }

  enum Way: CaseIterable {
    case reset, amend, rebase

    func drop(_ test: DroppedVersionsTests) throws {
      switch self {
      case .reset: try test.git("reset", "-q", "--hard", "HEAD~2")
      case .amend:
        try test.home.write("a.txt", "amended\n")
        try test.git("commit", "-qa", "--amend", "-m", "amended")
      case .rebase: try test.git("rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
      }
    }
  }

  @Test("undo brings them back, into the history as well", arguments: Way.allCases, [false, true])
  func undo(_ way: Way, isPruned: Bool) throws {
    _ = try save("first\nsecond\n")
    let last = try save("first\nsecond\nthird\n")
    if way == .rebase {
      try home.write("b.txt", "b\n")
      _ = try home.notebook.save()
    }
    let dropped = try #require(try home.notebook.state().tip)
    let texts = try home.texts()
    try way.drop(self)
    if isPruned { try prune() }
    home.seconds.now += 60
    _ = try home.notebook.save()
    if isPruned { try prune() }
    #expect(try kept().map(\.newest) == [dropped])

    let drop = try #require(
      try home.notebook.history.operations().first { $0.kind == .git })
    #expect(drop.summary.hasPrefix("Drop"), "\(drop.summary)")
    _ = try home.growing { try home.notebook.undo(.version(drop.after.hex)) }
    #expect(try home.texts() == texts)
    let tip = try #require(try home.notebook.state().tip)
    for version in [last, dropped] {
      #expect(try home.notebook.repository.isAncestor(version, of: tip))
    }
    _ = try home.notebook.redo()
    #expect(try home.texts() != texts)
    try git("fsck", "--strict")
  }

  @Test("of a branch that is removed", arguments: [false, true])
  func branch(isDetached: Bool) throws {
    if isDetached { try git("switch", "-q", "--detach") } else { try git("switch", "-qc", "side") }
    let dropped = try save("first\nside\n")
    try git("switch", "-q", "main")
    if !isDetached { try git("branch", "-qD", "side") }
    try prune()
    #expect(try home.read("a.txt") == "first\n")
    try home.write("b.txt", "other\n")
    home.seconds.now += 60
    _ = try home.notebook.save()
    try prune()
    #expect(try kept().map(\.newest) == [dropped])

    let operations = try home.notebook.history.operations()
    #expect(operations.map(\.summary).contains("Drop: Update a"), "\(operations)")
    let drop = try #require(operations.first { $0.before == dropped })
    home.seconds.now += 60
    _ = try home.notebook.undo(.version(drop.after.hex))
    #expect(try home.read("a.txt") == "first\nside\n")
    #expect(try home.read("b.txt") == "other\n")
    let tip = try #require(try home.notebook.state().tip)
    #expect(try home.notebook.repository.isAncestor(dropped, of: tip))
  }

  @Test("what another device had is kept: that device may drop it as well")
  func exchanged() throws {
    let sent = try save("second\n")
    try git("update-ref", "refs/remotes/ben/main", sent.hex)
    try git("reset", "-q", "--hard", "HEAD~1")
    _ = try home.notebook.save()
    #expect(try kept().map(\.newest) == [sent])
  }

  @Test("what another branch has is not dropped")
  func reachable() throws {
    let other = try save("third\n")
    try git("branch", "other")
    try git("reset", "-q", "--hard", "HEAD~1")
    _ = try home.notebook.save()
    #expect(try kept().isEmpty)
    #expect(try home.notebook.repository.contains(other))
    // Nor is a merge that is derived anew, whose heads are all there.
    let ben = try home.clone(device: "Ben")
    for (device, name) in [(home, "b.txt"), (ben, "c.txt")] {
      try device.write(name, name)
      _ = try device.notebook.save()
    }
    try home.receive(from: ben)
    try ben.write("d.txt", "d")
    _ = try ben.notebook.save()
    try home.receive(from: ben)
    #expect(try kept().isEmpty)
  }

  @Test("a commit made by hand on top drops nothing, and is followed")
  func commit() throws {
    try home.write("a.txt", "by hand\n")
    try git("commit", "-qam", "by hand")
    _ = try home.notebook.save()
    #expect(try kept().isEmpty)
    let made = try git("rev-parse", "refs/notes-state/made/heads/main")
    #expect(try made == git("rev-parse", "HEAD"))
  }

  @Test("gc lets go of them after 90 days, and says so")
  func release() throws {
    let dropped = try save("second\n")
    try git("reset", "-q", "--hard", "HEAD~1")
    _ = try home.notebook.save()
    home.seconds.now += 90 * 86_400
    #expect(try home.notebook.collectGarbage()?.versionsReleased == 0)
    #expect(try kept().count == 1)
    home.seconds.now += 1
    // The version, and what kept it.
    #expect(try home.notebook.collectGarbage()?.versionsReleased == 1)
    #expect(try kept().isEmpty)
    try prune()
    #expect(try Repository.open(at: home.path).contains(dropped) == false)
    #expect(try home.notebook.collectGarbage()?.versionsReleased == 0)
  }

  @Test("a command that goes on after the drop was noticed keeps them once")
  func once() throws {
    _ = try save("second\n")
    let dropped = try save("third\n")
    try git("reset", "-q", "--hard", "HEAD~2")
    for _ in 0..<3 {
      home.seconds.now += 60
      _ = try home.notebook.save()
    }
    #expect(try kept().map(\.newest) == [dropped])
    #expect(
      try home.notebook.history.operations().first?.summary == "Drop 2 versions")
  }
}
