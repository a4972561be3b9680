import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Notes that are left out of the folder": what holds wherever the bit comes from.
@Suite("Notes that are left out of the folder")
struct SparseFilesTests {
  private let home: Fixture

  init() throws {
    home = try Fixture()
    for name in ["a.txt", "b.txt"] { try home.write(name, name + "\n") }
    _ = try home.notebook.save()
  }

  /// Bob, whose folder lacks b.txt.
  private func lacking() throws -> Fixture {
    let bob = try home.clone(device: "Bob")
    _ = try bob.git(["update-index", "--skip-worktree", "b.txt"])
    try bob.remove("b.txt")
    return bob
  }

  // "The bit has the same effect whatever program set it. If the folder lacks the note, the note does not count as
  // deleted".
  // "Every checkout, every save of the whole folder, and … tries such a note again."
  @Test(
    "is no deletion, and is brought back by a save where there is room", arguments: [true, false])
  func noDeletion(isNamed: Bool) throws {
    let bob = try lacking()
    let status = try bob.notebook.status()
    #expect(status.changes == [])
    #expect(status.skipped == [SkippedFile(path: "b.txt", reason: .waiting)])
    #expect(try bob.notebook.workTree.sparseFiles() == ["b.txt"])
    #expect(try bob.notebook.autosave(.only(["a.txt"]))?.version == nil)
    #expect(try bob.notebook.workTree.text(of: "b.txt") == Array("b.txt\n".utf8))
    #expect(try bob.read("b.txt") == nil)
    #expect(
      try (isNamed ? bob.notebook.autosave(.only(["b.txt"])) : bob.notebook.save())?.version == nil)
    #expect(try bob.read("b.txt") == "b.txt\n")
    #expect(try bob.git(["ls-files", "-t"]) == "H a.txt\nH b.txt\n")
    #expect(try bob.git(["status", "--porcelain"]) == "")
  }

  @Test("what others do to it arrives", arguments: ["edited", "deleted", "renamed", "elsewhere"])
  func others(deed: String) throws {
    let bob = try lacking()
    switch deed {
    case "edited": try home.write("b.txt", "new\n")
    case "deleted": try home.remove("b.txt")
    case "renamed": try #require(rename(home.path + "/b.txt", home.path + "/c.txt") == 0)
    default: try home.write("a.txt", "new\n")
    }
    _ = try home.notebook.save()
    try bob.receive(from: home)
    for name in ["a.txt", "b.txt", "c.txt"] { #expect(try bob.read(name) == home.read(name)) }
    #expect(try bob.notebook.state().tip == home.notebook.state().tip)
    #expect(try bob.notebook.status().changes == [])
    #expect(try bob.notebook.workTree.sparseFiles() == [])
    #expect(try bob.notebook.save().version == nil)
  }

  @Test("a file made under its name is an edit")
  func madeAnew() throws {
    let bob = try lacking()
    try bob.write("b.txt", "made anew\n")
    #expect(try bob.notebook.workTree.sparseFiles() == [])
    let saved = try bob.notebook.save()
    #expect(saved.changes == [Change(path: "b.txt", kind: .modified)])
    #expect(try bob.git(["ls-files", "-t"]) == "H a.txt\nH b.txt\n")
  }

  // "… if the folder has it, it is like any other."
  @Test("the bit of a file that is there means nothing", arguments: [false, true])
  func isThere(isDeleted: Bool) throws {
    let bob = try home.clone(device: "Bob")
    _ = try bob.git(["update-index", "--skip-worktree", "b.txt"])
    if isDeleted { try home.remove("b.txt") } else { try home.write("b.txt", "new\n") }
    let version = try #require(try home.notebook.save().version)
    let joined = try bob.receive(from: home)
    #expect(joined.tip == version)
    #expect(try bob.read("b.txt") == (isDeleted ? nil : "new\n"))
    #expect(try bob.notebook.save().version == nil)
  }

  @Test("an interrupted checkout knows what was left out when it began")
  func interrupted() throws {
    let bob = try lacking()
    try home.write("a.txt", "new\n")
    let target = try #require(try home.notebook.save().version)
    try bob.copyObjects(from: home)
    let notebook = bob.notebook
    let journal = CheckoutJournal(
      from: try notebook.repository.head().commit, to: target, sparse: ["b.txt"])
    let plan = try journal.plan(in: notebook.repository)
    #expect(plan.steps.map(\.path) == ["a.txt", "b.txt"])
    #expect(plan.steps.map(\.wasSparse) == [false, true])
    try Checkout(in: notebook.workTree, plan: plan, journal: journal).stage()
    #expect(try CheckoutJournal.load(from: notebook.stateFolder)?.sparse == ["b.txt"])
    // Git says something else meanwhile.
    _ = try bob.git(["update-index", "--no-skip-worktree", "b.txt"])
    _ = try notebook.save()
    #expect(try notebook.state().tip == target)
    #expect(try bob.read("a.txt") == "new\n")
    #expect(try bob.read("b.txt") == "b.txt\n")
  }
}
