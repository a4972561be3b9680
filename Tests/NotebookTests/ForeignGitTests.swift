import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// Design, promise 5: `git log`, `git fsck --strict`, `git clone` work on every notebook at every
/// moment, and what is done by hand with git is welcome.
@Suite("Git used by hand in the same folder")
struct ForeignGitTests {
  let home: Fixture
  let other: Fixture

  init() throws {
    home = try Fixture()
    for name in ["a.txt", "b.txt"] { try home.write(name, "\(name)\n") }
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  @discardableResult
  func git(_ arguments: String...) throws -> String { try home.git(arguments) }

  /// Both devices know the same afterwards, and git finds nothing wrong.
  func meet() throws {
    _ = try home.notebook.save()
    try other.receive(from: home)
    try home.receive(from: other)
    #expect(try home.notebook.state().tip == other.notebook.state().tip)
    #expect(try home.notebook.status().changes.isEmpty)
    #expect(try git("status", "--porcelain").isEmpty)
    try git("fsck", "--strict")
  }

  @Test("commit and commit --amend")
  func commits() throws {
    try home.write("a.txt", "by hand\n")
    try git("commit", "-qam", "by hand")
    try meet()
    #expect(try other.read("a.txt") == "by hand\n")
    try home.write("a.txt", "amended\n")
    try git("commit", "-qa", "--amend", "-m", "amended")
    try other.write("b.txt", "meanwhile\n")
    _ = try other.notebook.save()
    try meet()
    // The version that was replaced had been passed on: it is not lost, and the amendment stands
    // beside it.
    #expect(try #require(try home.read("a.txt")).contains("amended"))
    #expect(try home.read("b.txt") == "meanwhile\n")
  }

  @Test("reset --hard: what was ever synced comes back, what is new is kept")
  func reset() throws {
    try home.write("a.txt", "second\n")
    _ = try home.notebook.save()
    try meet()
    try git("reset", "-q", "--hard", "HEAD~1")
    #expect(try home.read("a.txt") == "a.txt\n")
    try home.write("c.txt", "after the reset\n")
    try meet()
    #expect(try home.read("a.txt") == "second\n")
    #expect(try other.read("c.txt") == "after the reset\n")
  }

  @Test("a commit between a checkout that was killed and the next command", arguments: 0...2)
  func commitAmidCheckout(steps: Int) throws {
    for name in ["a.txt", "b.txt"] { try other.write(name, "remote \(name)\n") }
    let theirs = try #require(try other.notebook.save().version)
    try home.copyObjects(from: other)
    let notebook = home.notebook
    let journal = CheckoutJournal(from: try notebook.state().tip, to: theirs)
    let plan = try journal.plan(in: notebook.repository)
    var checkout = try Checkout(in: notebook.workTree, plan: plan.prefix(steps), journal: journal)
    try Checkout(in: notebook.workTree, plan: plan, journal: journal).stage()
    try checkout.run()
    try home.write("c.txt", "by hand\n")
    try git("add", "c.txt")
    try git("commit", "-qm", "by hand")
    let byHand = try #require(try notebook.repository.head().commit)

    let fresh = try Notebook.open(at: home.path)
    _ = try fresh.save()
    let tip = try #require(try fresh.state().tip)
    // Both are in history, and what came from elsewhere is nobody else's edit.
    #expect(try fresh.repository.isAncestor(byHand, of: tip))
    #expect(try fresh.repository.isAncestor(theirs, of: tip))
    for id in try fresh.repository.commits(from: [tip], lacking: [theirs]) {
      let commit = try fresh.repository.commit(id)
      guard commit.parents.count == 1, let parent = commit.parents.first else { continue }
      let changes = try fresh.repository.changes(
        from: fresh.repository.commit(parent).tree, to: commit.tree)
      #expect(changes.map(\.path) == ["c.txt"])
    }
    for name in ["a.txt", "b.txt"] { #expect(try home.read(name) == "remote \(name)\n") }
    #expect(try home.read("c.txt") == "by hand\n")
    #expect(try fresh.repository.references(under: RescuedVersions.folder).isEmpty)
    try meet()
  }

  @Test(
    "a commit of everything after a checkout that was killed when the branch had moved",
    arguments: 0...3, [false, true])
  func commitOfHalfACheckout(steps: Int, all: Bool) throws {
    for name in ["a.txt", "b.txt"] { try other.write(name, "remote \(name)\n") }
    try other.write("d.txt", "remote d.txt\n")
    let theirs = try #require(try other.notebook.save().version)
    try home.copyObjects(from: other)
    let notebook = home.notebook
    let journal = CheckoutJournal(from: try notebook.state().tip, to: theirs)
    let plan = try journal.plan(in: notebook.repository)
    var checkout = try Checkout(in: notebook.workTree, plan: plan.prefix(steps), journal: journal)
    try Checkout(in: notebook.workTree, plan: plan, journal: journal).stage()
    try VersionWriter(notebook.history, device: notebook.identity.device).move(
      notebook.repository.head(), to: theirs, operation: .receive)
    try checkout.run()
    try home.write("c.txt", "by hand\n")
    try git("add", all ? "." : "c.txt")
    try git("commit", "-qm", "by hand")
    let byHand = try #require(try notebook.repository.head().commit)

    let fresh = try Notebook.open(at: home.path)
    fresh.clock = notebook.clock
    _ = try fresh.save()
    let tip = try #require(try fresh.state().tip)
    #expect(try fresh.repository.isAncestor(byHand, of: tip))
    for name in ["a.txt", "b.txt", "d.txt"] {
      #expect(try home.read(name) == "remote \(name)\n", "\(name)")
    }
    #expect(try home.read("c.txt") == "by hand\n")
    #expect(try fresh.state().conflictCount == 0)
    #expect(try fresh.repository.references(under: RescuedVersions.folder).isEmpty)
    try meet()
  }

  @Test("a link in a foreign commit is told by name before it is sent anywhere")
  func link() throws {
    #expect(symlink("a.txt", home.path + "/l.txt") == 0)
    try git("add", "l.txt")
    try git("commit", "-qm", "by hand")
    let made = try #require(try home.notebook.repository.head().commit)
    #expect {
      try home.notebook.repository.pack(wants: [made], haves: [])
    } throws: { error in
      guard case GitError.unfit(made, "l.txt", "a symbolic link") = error else { return false }
      return true
    }
  }

  @Test("a branch checked out, worked on and merged by git")
  func branches() throws {
    try git("checkout", "-q", "-b", "side")
    try home.write("a.txt", "on the side\n")
    _ = try home.notebook.save()
    #expect(try home.notebook.repository.head().branch == "side")
    try git("checkout", "-q", "main")
    #expect(try home.read("a.txt") == "a.txt\n")
    try home.write("b.txt", "on main\n")
    _ = try home.notebook.save()
    try git("merge", "-q", "-m", "by hand", "side")
    try meet()
    #expect(try other.read("a.txt") == "on the side\n")
    #expect(try other.read("b.txt") == "on main\n")
  }

  // "During a git merge, … commands that would save or check out fail"
  @Test(
    "what git left unfinished is left alone until it is done, or given up",
    arguments: [("merge", "--continue"), ("rebase", "--continue"), ("cherry-pick", "--abort")])
  func unfinished(operation: String, end: String) throws {
    try git("checkout", "-q", "-b", "side")
    try home.write("a.txt", "side\n")
    _ = try home.notebook.save()
    try git("checkout", "-q", "main")
    try home.write("a.txt", "main\n")
    _ = try home.notebook.save()
    let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    _ = try TestSupport.run(["git", "-C", home.path] + person + [operation, "side"])
    let left = try home.read("a.txt")
    #expect(try #require(left).contains("<<<<<<<"))
    let before = try git("status", "--porcelain")
    #expect(try home.notebook.status().gitOperation?.rawValue == operation)
    for work in [
      { _ = try self.home.notebook.save() }, { try self.home.receive(from: self.other) },
    ] {
      #expect {
        try work()
      } throws: { error in
        guard case NotebookError.gitOperation(let found) = error else { return false }
        return found.rawValue == operation
      }
    }
    #expect(try git("status", "--porcelain") == before)
    #expect(try home.read("a.txt") == left)
    if end == "--continue" { try home.write("a.txt", "main and side\n") }
    try git("add", "a.txt")
    try git("-c", "core.editor=true", operation, end)
    #expect(try home.notebook.status().gitOperation == nil)
    try meet()
    #expect(try other.read("a.txt") == (end == "--continue" ? "main and side\n" : "main\n"))
  }

  @Test("stash and stash pop")
  func stash() throws {
    try home.write("a.txt", "in progress\n")
    try git("stash", "-q")
    #expect(try home.notebook.save().version == nil)
    try git("stash", "pop", "-q")
    try meet()
    #expect(try other.read("a.txt") == "in progress\n")
  }

  @Test("gc, repack and pack-refs")
  func housekeeping() throws {
    for round in 0..<5 {
      try home.write("a.txt", "\(round)\n")
      _ = try home.notebook.save()
    }
    try git("gc", "-q", "--prune=now")
    try git("pack-refs", "--all")
    #expect(try home.notebook.state().tip != nil)
    try home.write("a.txt", "after gc\n")
    try meet()
    #expect(try other.read("a.txt") == "after gc\n")
  }

  @Test("files staged but not committed, and one removed from the index only")
  func staging() throws {
    try home.write("c.txt", "staged\n")
    try git("add", "c.txt")
    try git("rm", "-q", "--cached", "b.txt")
    try meet()
    #expect(try other.read("c.txt") == "staged\n")
    #expect(try other.read("b.txt") == "b.txt\n")
  }

  @Test("a detached HEAD goes on from where it is")
  func detached() throws {
    try git("checkout", "-q", "--detach")
    try home.write("a.txt", "detached\n")
    _ = try home.notebook.save()
    #expect(try git("log", "-1", "--format=%s").hasPrefix("Update a"))
    try other.receive(from: home)
    #expect(try other.read("a.txt") == "detached\n")
  }

  /// How a branch without versions comes to be named by HEAD, the files staying as they are.
  @Test(
    "a branch without versions goes on with what the folder showed last",
    arguments: [
      ["checkout", "-q", "--orphan", "x"], ["symbolic-ref", "HEAD", "refs/heads/x"],
      ["update-ref", "-d", "refs/heads/main"],
    ])
  func branchWithoutVersions(_ command: [String]) throws {
    try home.write("a.txt", "by hand\n")
    try git("commit", "-qam", "by hand")
    let last = try git("rev-parse", "HEAD").split(separator: "\n")[0]
    _ = try home.git(command)
    try home.write("b.txt", "on the new branch\n")
    _ = try home.notebook.save()
    #expect(try git("log", "-1", "--format=%P").split(separator: "\n").first == last)
    #expect(try git("show", "--format=", "--name-only").split(separator: "\n") == ["b.txt"])
    try meet()
    #expect(try other.read("a.txt") == "by hand\n")
    #expect(try other.read("b.txt") == "on the new branch\n")
  }

  @Test("a branch without versions or files gets those that the folder showed last")
  func branchWithoutFiles() throws {
    try git("switch", "-q", "--orphan", "x")
    try home.write("b.txt", "b.txt\nand more\n")
    _ = try home.notebook.save()
    #expect(try home.read("a.txt") == "a.txt\n")
    #expect(try #require(try home.read("b.txt")).contains("and more"))
    #expect(try home.notebook.state().heads.count == 2)
    try meet()
    #expect(try other.read("a.txt") == "a.txt\n")
  }

  @Test("an index that git emptied, and a folder without files")
  func emptied() throws {
    try git("read-tree", "--empty")
    for name in ["a.txt", "b.txt"] { try home.remove(name) }
    #expect(try home.notebook.save().version != nil)
    #expect(try git("ls-tree", "HEAD").isEmpty)
    try meet()
    #expect(try other.read("a.txt") == nil)
  }

  @Test("that a branch begins is nothing to take back")
  func undoOfBranch() throws {
    try git("checkout", "-q", "-b", "side")
    #expect(throws: NotebookError.self) { try home.notebook.undo() }
    #expect(try home.read("a.txt") == "a.txt\n")
    #expect(try home.notebook.history.operations().isEmpty)
  }

  @Test("an index of version 4 and a clone of the notebook")
  func otherForms() throws {
    try git("update-index", "--index-version", "4")
    #expect(try home.notebook.status().changes.isEmpty)
    try home.write("a.txt", "changed\n")
    #expect(try home.notebook.status().changes.map(\.path) == ["a.txt"])
    try meet()
    let folder = try TemporaryFolder()
    let clone = try TestSupport.run(["git", "clone", "-q", home.path, folder["clone"]])
    #expect(clone.isSuccess)
    #expect(try folder.text("clone/a.txt") == "changed\n")
  }
}

@Suite("The guard against mass deletion")
struct MassDeletionTests {
  @Test(
    "a save that would remove more than half of ten notes stops; a move and a named note do not")
  func save() throws {
    let home = try Fixture()
    for number in 0..<12 { try home.write("\(number).txt", "\(number)\n") }
    _ = try home.notebook.save()
    let tip = try home.notebook.state().tip
    for number in 0..<7 { try home.remove("\(number).txt") }
    #expect(throws: NotebookError.self) { try home.notebook.save() }
    #expect(try home.notebook.state().tip == tip)
    #expect(throws: NotebookError.self) { try home.notebook.merge([]) }
    #expect(try home.notebook.save(only: ["0.txt"]).changes.map(\.path) == ["0.txt"])
    for number in 0..<7 { try home.write("moved/\(number).txt", "\(number)\n") }
    #expect(try home.notebook.save().version != nil)
    for number in 0..<7 { try home.remove("moved/\(number).txt") }
    #expect(try home.notebook.save(allowsMassDeletion: true).changes.count == 7)
  }

  @Test("nor does what git took out of its index by hand go without a word")
  func staged() throws {
    let home = try Fixture()
    for number in 0..<12 { try home.write("\(number).txt", "\(number)\n") }
    _ = try home.notebook.save()
    let tip = try home.notebook.state().tip
    _ = try home.git(["rm", "-q"] + (0..<7).map { "\($0).txt" })
    #expect(throws: NotebookError.self) { try home.notebook.save() }
    #expect(throws: NotebookError.self) { try home.notebook.save(only: ["11.txt"]) }
    #expect(try home.notebook.state().tip == tip)
    #expect(try home.notebook.save(allowsMassDeletion: true).version != nil)
    #expect(try home.notebook.status().changes.isEmpty)
  }

  @Test("a deletion that was allowed is not asked about again where its run was killed")
  func killed() throws {
    let home = try Fixture()
    for number in 0..<12 { try home.write("\(number).txt", "\(number)\n") }
    _ = try home.notebook.save()
    let index = try readFile(home.path + "/.git/index")
    for number in 0..<11 { try home.remove("\(number).txt") }
    let version = try home.notebook.save(allowsMassDeletion: true).version
    // As if it had been killed before it wrote the index.
    try writeFile(home.path + "/.git/index", index)
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.state().tip == version)
    #expect(try home.notebook.status().changes.isEmpty)
  }
}
