import Git
import Glibc
import NotebookSupport
import State
import System
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

// notes-merge(7), "Checkout": "The first checkout writes each file once".
@Suite("The first checkout") struct FirstCheckoutTests {
  private let names = ["1.txt", "2.txt", "a/1.txt", "a/b/2.txt", "a.txt", "c/1.txt"]

  private func home() throws -> Fixture {
    let home = try Fixture()
    for name in names { try home.write(name, "\(name)\n") }
    _ = try home.notebook.save()
    return home
  }

  /// A device that has the versions and shows none, and the checkout of them that it has staged.
  private func staged(from home: Fixture) throws -> (other: Fixture, checkout: Checkout, ObjectID) {
    let other = try Fixture(device: "Bob")
    try other.copyObjects(from: home)
    let target = try #require(try home.notebook.state().tip)
    let journal = CheckoutJournal(from: nil, to: target)
    let checkout = try Checkout(
      in: other.notebook.workTree, plan: journal.plan(in: other.notebook.repository),
      journal: journal)
    try checkout.stage()
    return (other, checkout, target)
  }

  private func reopened(_ other: Fixture) throws -> Notebook {
    let fresh = try Notebook.open(at: other.path)
    fresh.clock = other.notebook.clock
    return fresh
  }

  /// The index has so many files, and need not read one of them.
  private func expectIndex(of other: Fixture, knows count: Int) throws {
    let index = try other.notebook.workTree.indexFile()
    #expect(index.count == count)
    for position in 0..<index.count {
      var status = stat()
      #expect(lstat(other.path + "/\(index.path(at: position))", &status) == 0)
      #expect(index.isUnchanged(status, at: position), "\(index.path(at: position))")
    }
  }

  @Test("the index knows the files without reading them, and the next save reads none")
  func index() throws {
    let home = try home()
    let other = try home.clone(device: "Bob")
    try expectIndex(of: other, knows: names.count)
    for name in names { #expect(try other.read(name) == "\(name)\n") }
    #expect(access(other.notebook.stateFolder[.checkout] + "/tree", F_OK) != 0)
    #expect(try other.notebook.state().tip == (try home.notebook.state().tip))
    #expect(try other.git(["status", "--porcelain"]).isEmpty)
  }

  @Test("many files, which two threads write, are all there, in folders inside one another")
  func many() throws {
    let home = try Fixture()
    let names = (0..<900).map { "d\($0 % 7)/e\($0 % 11)/\($0).txt" } + (0..<99).map { "\($0).txt" }
    for name in names { try home.write(name, "\(name)\n") }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    for name in names { #expect(try other.read(name) == "\(name)\n") }
    try expectIndex(of: other, knows: names.count)
    #expect(try other.git(["status", "--porcelain"]).isEmpty)
  }

  @Test("a text that is missing, whichever thread meets it, is told, and no file has come")
  func missing() throws {
    let home = try Fixture()
    for number in 0..<900 { try home.write("d\(number % 7)/\(number).txt", "\(number)\n") }
    _ = try home.notebook.save()
    let other = try Fixture(device: "Bob")
    try other.copyObjects(from: home)
    let target = try #require(try home.notebook.state().tip)
    let journal = CheckoutJournal(from: nil, to: target)
    let plan = try journal.plan(in: other.notebook.repository)
    let lost = try #require(plan.steps.randomElement()?.new)
    let modes = other.notebook.workTree.fileModes
    let tree = try TemporaryFolder()
    let object = other.path + "/.git/objects/\(lost.id.hex.prefix(2))/\(lost.id.hex.dropFirst(2))"
    #expect(unlink(object) == 0)
    other.notebook.repository.close()
    #expect(throws: GitError.self) {
      _ = try StagedTreeWriter(plan.steps, to: tree.path, modes: modes, meter: nil)
        .write(from: other.notebook.repository)
    }
    #expect(try other.git(["ls-files"]).isEmpty)
  }

  /// Design, promise 3. What stands at the top was brought to its place as far as `stop`, and the process
  /// is gone.
  @Test("a first checkout that ended anywhere is finished by the next command", arguments: 0...5)
  func interrupted(after stop: Int) throws {
    let home = try home()
    let (other, _, target) = try staged(from: home)
    let tree = other.notebook.stateFolder[.checkout] + "/tree"
    for name in ["1.txt", "2.txt", "a", "a.txt", "c"].prefix(stop) {
      #expect(rename("\(tree)/\(name)", "\(other.path)/\(name)") == 0)
    }
    // Somebody edits a note that had come.
    if stop > 0 { try other.write("1.txt", "1.txt\nedited\n") }
    let fresh = try reopened(other)
    #expect(try fresh.status().isInterrupted)
    _ = try fresh.save()
    #expect(try !fresh.status().isInterrupted)
    for name in names {
      let edit = stop > 0 && name == "1.txt" ? "edited\n" : ""
      #expect(try other.read(name) == "\(name)\n" + edit)
    }
    #expect(try fresh.repository.isAncestor(target, of: #require(try fresh.state().tip)))
    #expect(try (fresh.state().tip == target) == (stop == 0))
    #expect(try fresh.save().version == nil)
    #expect(try fresh.repository.removedAllStaged(in: fresh.stateFolder))
  }

  @Test("what somebody made meanwhile stays and is merged", arguments: [true, false])
  func inTheWay(isKilled: Bool) throws {
    let home = try home()
    var (other, checkout, target) = try staged(from: home)
    try other.write("1.txt", "mine\n")
    try other.write("a/b/2.txt", "mine\n")
    try other.write("c", "a file of mine where a folder comes\n")
    if !isKilled {
      try checkout.run()
      // Both files came out whole, to be made versions.
      #expect(Set(checkout.rescued.keys) == ["1.txt", "a/b/2.txt"])
    }
    let fresh = try reopened(other)
    _ = try fresh.save()
    for name in ["1.txt", "a/b/2.txt"] {
      let text = try #require(try other.read(name))
      #expect(text.contains("mine") && text.contains(name), "\(name): \(text)")
    }
    for name in ["2.txt", "a/1.txt", "a.txt"] { #expect(try other.read(name) == "\(name)\n") }
    #expect(try fresh.repository.isAncestor(target, of: #require(try fresh.state().tip)))
    #expect(try other.read("c") == "a file of mine where a folder comes\n")
    #expect(try fresh.workTree.sparseFiles() == ["c/1.txt"])
    #expect(try fresh.save().version == nil)
  }

  @Test("an edit in the very moment in which the note comes is seen")
  func atOnce() throws {
    let home = try home()
    for _ in 0..<20 {
      let other = try home.clone(device: "Bob")
      // As long as before, and perhaps at the same time.
      try other.write("a/1.txt", "A/1.txt\n")
      #expect(try other.notebook.save().version != nil)
    }
  }
}

extension Repository {
  fileprivate func removedAllStaged(in stateFolder: StateFolder) throws -> Bool {
    try Disk.names(in: stateFolder[.checkout]).isEmpty
  }
}
