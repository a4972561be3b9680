import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-save(1): changes are told from the last version, whatever git's index says.
@Suite("Changes beside git's index")
struct LostIndexTests {
  private let home: Fixture

  init() throws {
    home = try Fixture()
    for number in 1...4 { try home.write("f\(number).md", "\(number)\n") }
    _ = try home.notebook.save()
  }

  private func message() throws -> String {
    let tip = try #require(try home.notebook.state().tip)
    return try home.notebook.repository.commit(tip).message
  }

  @Test("a lost index makes one edit no more than that", arguments: [nil, "", "DIRC"])
  func lost(content: String?) throws {
    let index = home.path + "/.git/index"
    if let content { try writeFile(index, Array(content.utf8)) } else { unlink(index) }
    try home.write("f1.md", "1\nmore\n")
    let change = Change(path: "f1.md", kind: .modified)
    #expect(try home.notebook.status().changes == [change])
    #expect(try home.notebook.save().changes == [change])
    #expect(try message() == "Update f1\n")
    #expect(try home.git(["status", "--short"]) == "")
  }

  @Test("what git staged is no change while the folder has it as the last version has")
  func staged() throws {
    _ = try home.git(["rm", "-q", "--cached", "f2.md"])
    #expect(try home.notebook.status().changes == [])
    #expect(try home.notebook.status().staged == [])
    #expect(try home.notebook.save().version == nil)
    try home.write("f3.md", "staged\n")
    _ = try home.git(["add", "f3.md"])
    let change = Change(path: "f3.md", kind: .modified)
    #expect(try home.notebook.status().changes == [change])
    #expect(try home.notebook.status().staged == [change])
    try home.write("f3.md", "3\n")
    #expect(try home.notebook.status().changes == [])
    #expect(try home.notebook.save().version == nil)
  }

  @Test(
    "no mark in git's index hides an edit", arguments: ["--assume-unchanged", "--skip-worktree"])
  func marked(mark: String) throws {
    let bob = try home.clone(device: "Bob")
    _ = try home.git(["update-index", mark, "f4.md"])
    try home.write("f4.md", "4\nmine\n")
    let change = Change(path: "f4.md", kind: .modified)
    #expect(try home.notebook.status().changes == [change])
    #expect(try home.notebook.save().changes == [change])
    try bob.receive(from: home)
    #expect(try bob.read("f4.md") == "4\nmine\n")
    try bob.write("f4.md", "4\nmine\ntheirs\n")
    _ = try bob.notebook.save()
    try home.receive(from: bob)
    #expect(try home.read("f4.md") == "4\nmine\ntheirs\n")
  }

  @Test("a note that git only intends to add is new; what is staged gives way to a later text")
  func intended() throws {
    try home.write("g.md", "new\n")
    _ = try home.git(["add", "-N", "g.md"])
    try home.write("f3.md", "3\nstaged\n")
    _ = try home.git(["add", "f3.md"])
    try home.write("f3.md", "3\nstaged\nlater\n")
    let changes = [Change(path: "f3.md", kind: .modified), Change(path: "g.md", kind: .added)]
    #expect(try home.notebook.status().changes == changes)
    #expect(try home.notebook.save().changes == changes)
    #expect(try home.git(["show", "HEAD:f3.md"]) == "3\nstaged\nlater\n")
    #expect(try home.git(["status", "--short"]) == "")
  }

  @Test("files that git could not merge are saved by nobody, until a person has")
  func unmerged() throws {
    try home.write("f1.md", "stashed\n")
    _ = try home.git(["stash", "-q"])
    try home.write("f1.md", "other\n")
    _ = try home.notebook.save()
    let pop = try run(["git", "-C", home.path, "stash", "pop"])
    #expect(!pop.isSuccess)
    try home.write("f2.md", "mine\n")
    #expect(try home.notebook.status().unmerged == ["f1.md"])
    #expect(try home.notebook.status().staged == [])
    for scope in [SaveScope.everything, .only(["f2.md"]), .everything] {
      do {
        _ = try home.notebook.autosave(scope)
        Issue.record("it was saved")
      } catch NotebookError.unmerged(["f1.md"]) {}
    }
    try home.write("f1.md", "settled\n")
    _ = try home.git(["add", "f1.md"])
    #expect(try home.notebook.save().changes.map(\.path) == ["f1.md", "f2.md"])
  }
}
