import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook

/// notes-gc(1): "the next command that writes makes it anew of what git's index and the folder hold, and says so".
@Suite("A save whose objects git removed")
struct GitPruningTests {
  private let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "one\n")
    try home.write("sub/b.txt", "one\n")
    try home.write("gone.txt", "gone\n")
    _ = try home.notebook.save()
    try home.write("a.txt", "one\ntwo\n")
    try home.write("sub/b.txt", "one\nand two\n")
    unlink(home.path + "/gone.txt")
    _ = try home.notebook.save()
  }

  enum Lost: CaseIterable { case commit, texts, all, textsAlone }

  /// As git removes it beside a save: before the branch has moved nothing leads to it.
  private func prune(_ lost: Lost) throws {
    let repository = home.notebook.repository
    let tip = try repository.commit(#require(try home.notebook.state().tip))
    let folder = try #require(try repository.entry(at: "sub", in: tip.tree)).id
    var objects: [ObjectID] =
      switch lost {
      case .commit, .texts: [tip.id]
      case .all: [tip.id, tip.tree, folder]
      case .textsAlone: []
      }
    if lost != .commit {
      for path in ["a.txt", "sub/b.txt"] as [TreePath] {
        objects.append(try #require(try repository.entry(at: path, in: tip.tree)).id)
      }
    }
    for hex in objects.map(\.hex) {
      try #require(
        unlink("\(home.path)/.git/objects/\(hex.prefix(2))/\(hex.dropFirst(2))") == 0)
    }
  }

  @Test(
    "the next one makes it anew, and tells", arguments: [Lost.commit, .texts, .all], [false, true])
  func madeAnew(lost: Lost, isEdited: Bool) throws {
    let former = try #require(try home.notebook.state().tip)
    try prune(lost)
    if isEdited { try home.write("a.txt", "one\ntwo\nthree\n") }
    let notebook = try Notebook.open(at: home.path)
    var told: [ObjectID] = []
    notebook.pruneNotice = { lost, _ in told.append(lost) }
    _ = try notebook.save()
    #expect(told == [former])
    let check = try home.git(["fsck", "--strict", "--no-dangling"])
    #expect(check.isEmpty, "\(check)")
    let text = try home.git(["show", "HEAD:a.txt"])
    #expect(text == (isEdited ? "one\ntwo\nthree\n" : "one\ntwo\n"))
    #expect(try home.git(["show", "HEAD:sub/b.txt"]) == "one\nand two\n")
    #expect(
      try home.git(["ls-tree", "-r", "--name-only", "HEAD"])
        == "a.txt\nsub/b.txt\n")
    // What was saved is in the history also where the folder has gone on, unless its text is nowhere.
    if isEdited, lost == .commit {
      #expect(try home.git(["show", "HEAD~1:a.txt"]) == "one\ntwo\n")
    }
    #expect(try home.git(["status", "--porcelain"]).isEmpty)
    #expect(try notebook.status().changes.isEmpty && notebook.status().missing.isEmpty)
    _ = try notebook.undo()
  }

  @Test(
    "status names texts that alone are gone, and a session stores anew what stands in the folder")
  func textsAlone() throws {
    let tree = try home.notebook.repository.commit(#require(try home.notebook.state().tip)).tree
    func text(_ path: TreePath) throws -> ObjectID {
      try #require(try home.notebook.repository.entry(at: path, in: tree)).id
    }
    let (edited, standing) = try (text("a.txt"), text("sub/b.txt"))
    #expect(try home.notebook.status().missing.isEmpty)
    try prune(.textsAlone)
    try home.write("a.txt", "one\ntwo\nthree\n")
    let notebook = try Notebook.open(at: home.path)
    #expect(try notebook.status().missing == [edited, standing])
    notebook.lookForMissingTexts()
    #expect(try Notebook.open(at: home.path).status().missing == [edited])
    #expect(try home.git(["show", "HEAD:sub/b.txt"]) == "one\nand two\n")
    // What git has staged is in no version.
    try home.write("new.txt", "new\n")
    _ = try home.git(["add", "new.txt"])
    let staged = try home.git(["rev-parse", ":new.txt"])
    try #require(
      unlink("\(home.path)/.git/objects/\(staged.prefix(2))/\(staged.dropFirst(2).prefix(38))") == 0
    )
    #expect(try Notebook.open(at: home.path).status().missing == [edited])
  }

  @Test("what another device or a hub has is asked for, and not made anew")
  func known() throws {
    let tip = try #require(try home.notebook.state().tip)
    _ = try home.git(["update-ref", "refs/remotes/hub/main", tip.hex])
    try prune(.commit)
    let notebook = try Notebook.open(at: home.path)
    #expect {
      try notebook.save()
    } throws: { error in
      if case GitError.missing(tip) = error { true } else { false }
    }
    #expect(notebook.missingObjects.isNews(for: "hub"))
  }
}
