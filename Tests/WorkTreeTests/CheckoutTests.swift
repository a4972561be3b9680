import Git
import Glibc
import NotebookSupport
import State
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

@Suite("Bringing the folder to a version")
struct CheckoutTests {
  @Test("a joined head's additions, edits, deletions and folders arrive in the folder")
  func fastForward() throws {
    let home = try Fixture()
    for name in ["keep.txt", "edit.txt", "gone.txt", "folder/deep/x.txt", "swap"] {
      try home.write(name, name)
    }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    #expect(try other.read("folder/deep/x.txt") == "folder/deep/x.txt")
    try home.write("edit.txt", "edited")
    try home.remove("gone.txt")
    try home.remove("folder")
    try home.remove("swap")
    try home.write("swap/inside.txt", "file became folder")
    try home.write("new/one.txt", "new")
    _ = try home.notebook.save()
    let joined = try other.receive(from: home)
    #expect(joined.tip == (try home.notebook.state().tip))
    #expect(try other.read("edit.txt") == "edited")
    #expect(try other.read("gone.txt") == nil)
    #expect(access(other.path + "/folder", F_OK) != 0)
    #expect(try other.read("swap/inside.txt") == "file became folder")
    #expect(try other.read("new/one.txt") == "new")
    #expect(try other.notebook.status().changes.isEmpty)
    #expect(try other.notebook.save().version == nil)
    // And back: a folder that becomes a file again.
    try home.remove("swap")
    try home.write("swap", "file again")
    _ = try home.notebook.save()
    try other.receive(from: home)
    #expect(try other.read("swap") == "file again")
  }

  @Test("bytes written in the middle of a checkout become a version on the old base")
  func writtenMeanwhile() throws {
    let home = try Fixture()
    for name in ["a.txt", "b.txt", "c.txt"] { try home.write(name, "old \(name)\n") }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("a.txt", "old a.txt\nremote line\n")
    try home.write("new.txt", "remote\n")
    try home.remove("c.txt")
    let theirs = try #require(try home.notebook.save().version)
    try other.copyObjects(from: home)
    // The save has happened; the checkout has not: exactly here an editor writes.
    let notebook = other.notebook
    let from = try #require(try notebook.repository.head().commit)
    try other.write("a.txt", "local line\nold a.txt\n")
    try other.write("c.txt", "edited while it was being deleted\n")
    try other.write("new.txt", "local\n")
    let rescued = try notebook.withWriterLock { transaction in
      try TipCheckout(writer: transaction.writer, history: notebook.history).run(
        from: notebook.repository.head(), to: theirs, operation: .checkout)
    }
    let commit = try notebook.repository.commit(#require(rescued.first))
    #expect(commit.parents == [from])
    let text = { (path: TreePath) in
      String(decoding: try notebook.history.text(of: path, at: commit), as: UTF8.self)
    }
    #expect(try text("a.txt") == "local line\nold a.txt\n")
    #expect(try text("c.txt") == "edited while it was being deleted\n")
    #expect(try text("new.txt") == "local\n")
    // The next command takes it in: nothing is lost, whatever way the edits merge.
    _ = try notebook.save()
    #expect(try notebook.repository.isAncestor(commit.id, of: #require(try notebook.state().tip)))
    let merged = try #require(try other.read("a.txt"))
    #expect(merged.contains("local line") && merged.contains("remote line"))
    #expect(try other.read("c.txt") == "edited while it was being deleted\n")
    #expect(try #require(try other.read("new.txt")).contains("remote"))
    #expect(try #require(try other.read("new.txt")).contains("local"))
    #expect(try notebook.save().version == nil)
  }

  /// Design, promise 3: killed at any instant, the next run needs no repair, loses nothing, undoes
  /// nobody's edit and reaches the tip it would have reached. Here the steps before `stop` are done
  /// and the process is gone.
  @Test(
    "a checkout that ended after any number of steps is finished by the next command",
    arguments: 0...5, [true, false])
  func interrupted(after stop: Int, canExchange: Bool) throws {
    let home = try Fixture()
    for name in ["1.txt", "2.txt", "3.txt", "4.txt"] { try home.write(name, "old\n") }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("1.txt", "new\n")
    try home.write("2.txt", "new\n")
    try home.remove("3.txt")
    try home.write("5.txt", "new\n")
    try home.write("6.txt", "new\n")
    let target = try #require(try home.notebook.save().version)
    try other.copyObjects(from: home)

    let notebook = other.notebook
    let from = try #require(try notebook.repository.head().commit)
    let plan = try CheckoutPlan(
      from: notebook.repository.commit(from).tree, to: notebook.repository.commit(target).tree,
      in: notebook.repository)
    let journal = CheckoutJournal(from: from, to: target)
    let checkout = try Checkout(in: notebook.workTree, plan: plan, journal: journal)
    try checkout.stage()
    if stop > 0 {
      try notebook.repository.update(
        reference: "refs/heads/main", to: target, from: from, message: "x")
    }
    var partial = try Checkout(
      in: notebook.workTree, plan: plan.prefix(stop), journal: journal, canExchange: canExchange)
    try partial.run()
    // Somebody edits a file that no step concerns, and one that is still to come, if any is.
    try other.write("4.txt", "edited after the crash\n")
    let pending = plan.steps.dropFirst(stop).first { $0.old != nil && $0.new != nil }
    if let pending { try other.write(pending.path.description, "old\nedit\n") }

    let fresh = try Notebook.open(at: other.path)
    fresh.clock = notebook.clock
    #expect(try fresh.status().isInterrupted)
    _ = try fresh.save()
    #expect(try !fresh.status().isInterrupted)
    #expect(try fresh.repository.isAncestor(target, of: #require(try fresh.state().tip)))
    #expect(try other.read("4.txt") == "edited after the crash\n")
    #expect(try other.read("3.txt") == nil)
    #expect(try other.read("5.txt") == "new\n")
    #expect(try other.read("6.txt") == "new\n")
    for name in ["1.txt", "2.txt"] {
      let text = try #require(try other.read(name))
      #expect(text.contains("new"))
      if pending?.path.description == name { #expect(text.contains("edit")) }
    }
    #expect(try fresh.save().version == nil)
  }

  /// Saves `home` and begins to bring `other` to that version, as a process does that is killed before
  /// its first step. Returns the version.
  private func beginCheckout(in other: Fixture, of home: Fixture) throws -> ObjectID {
    let target = try #require(try home.notebook.save().version)
    try other.copyObjects(from: home)
    let notebook = other.notebook
    let journal = CheckoutJournal(from: try notebook.repository.head().commit, to: target)
    try Checkout(
      in: notebook.workTree, plan: journal.plan(in: notebook.repository), journal: journal
    )
    .stage()
    return target
  }

  @Test("a file system that can't swap is killed between the halves of a swap")
  func halfExchanged() throws {
    let home = try Fixture()
    try home.write("n.txt", "old\n")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("n.txt", "new\n")
    _ = try beginCheckout(in: other, of: home)
    let notebook = other.notebook
    let staging = notebook.stateFolder[.checkout]
    #expect(rename(other.path + "/n.txt", staging + "/0.out") == 0)
    // In that moment somebody saves a new file of the name.
    try other.write("n.txt", "old\nmade in the gap\n")
    _ = try notebook.save()
    let text = try #require(try other.read("n.txt"))
    #expect(text.contains("new") && text.contains("made in the gap"))
    #expect(try notebook.save().version == nil)
    #expect(access(notebook.stateFolder.path + "/lingering", F_OK) != 0)
  }

  // "An empty folder that stands where a note comes is removed."
  @Test("an empty folder gives way to a note, another does not", arguments: [true, false])
  func emptyFolder(isEmpty: Bool) throws {
    let home = try Fixture()
    try home.write("a.txt", "a\n")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("n.txt", "n\n")
    _ = try home.notebook.save()
    try makeFolder(other.path + "/n.txt")
    if isEmpty {
      try other.receive(from: home)
    } else {
      try makeFolder(other.path + "/n.txt/deeper")
      try other.receive(from: home)
      #expect(try other.notebook.workTree.sparseFiles() == ["n.txt"])
      #expect(try !other.notebook.status().isInterrupted)
      try #require(rename(other.path + "/n.txt", other.path + "/away") == 0)
      try other.receive(from: home)
    }
    #expect(try other.read("n.txt") == "n\n")
    #expect(try other.notebook.save().version == nil)
  }

  @Test("an empty folder that comes in a note's way during a checkout gives way, too")
  func emptyFolderMeanwhile() throws {
    let home = try Fixture()
    try home.write("a.txt", "a\n")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("n.txt", "n\n")
    let target = try beginCheckout(in: other, of: home)
    try makeFolder(other.path + "/n.txt")
    _ = try other.notebook.save()
    #expect(try other.read("n.txt") == "n\n")
    #expect(try other.notebook.state().tip == target)
  }

  @Test("a link in the folder never leads a checkout out of it")
  func links() throws {
    let home = try Fixture()
    let outside = try Fixture(device: "outside")
    try home.write("a.txt", "1")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("folder/evil.txt", "x")
    _ = try home.notebook.save()
    #expect(symlink(outside.path, other.path + "/folder") == 0)
    try other.receive(from: home)
    #expect(try other.notebook.workTree.sparseFiles() == ["folder/evil.txt"])
    #expect(try outside.read("evil.txt") == nil)
    // Nothing is left half done, and when the cause is gone the next sync brings it.
    #expect(try !other.notebook.status().isInterrupted)
    try other.remove("folder")
    try other.receive(from: home)
    #expect(try other.read("folder/evil.txt") == "x")
    #expect(try other.notebook.state().tip == (try home.notebook.state().tip))
  }

  @Test("a join that would delete more than half of ten notes stops before a file changes")
  func massDeletion() throws {
    let home = try Fixture()
    for number in 0..<12 { try home.write("\(number).txt", "\(number)") }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    for number in 0..<7 { try home.remove("\(number).txt") }
    _ = try home.notebook.save(allowsMassDeletion: true)
    #expect(throws: NotebookError.self) { try other.receive(from: home) }
    #expect(try other.read("0.txt") == "0")
    _ = try other.notebook.merge(
      home.notebook.state().heads, options: MergeOptions(allowsMassDeletion: true))
    #expect(try other.read("0.txt") == nil)
  }

  /// notes-protocol(7), "Large versions".
  @Test("a join that would bring more into the folder than is usual stops before a file changes")
  func largeVersion() throws {
    let home = try Fixture()
    try home.write("a.txt", "one\n")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    for number in 0..<10 { try home.write("\(number).txt", String(repeating: "x", count: 1000)) }
    _ = try home.notebook.save()
    try other.copyObjects(from: home)
    let heads = try home.notebook.state().heads
    var options = MergeOptions()
    options.unaskedBytes = 9_999
    // Ten files of one content count ten times.
    #expect {
      try other.notebook.merge(heads, options: options)
    } throws: {
      if case NotebookError.largeVersion(10_000, _) = $0 { true } else { false }
    }
    #expect(try other.read("0.txt") == nil)
    #expect(try !other.notebook.status().isInterrupted)
    options.unaskedBytes = 10_000
    _ = try other.notebook.merge(heads, options: options)
    #expect(try other.read("9.txt")?.utf8.count == 1000)
    options.unaskedBytes = 0
    try home.write("a.txt", "two\n")
    _ = try home.notebook.save()
    try other.copyObjects(from: home)
    options.allowsLarge = true
    _ = try other.notebook.merge(home.notebook.state().heads, options: options)
    #expect(try other.read("a.txt") == "two\n")
  }

  @Test("a program that goes on writing into the file a checkout swapped out loses nothing")
  func openWriter() throws {
    let home = try Fixture()
    try home.write("log.txt", "first\n")
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    try home.write("log.txt", "remote\nfirst\n")
    _ = try home.notebook.save()
    // It opened the note before the sync, and writes after.
    let descriptor = open(other.path + "/log.txt", O_WRONLY | O_APPEND | O_CLOEXEC)
    #expect(descriptor >= 0)
    try other.receive(from: home)
    #expect(try other.read("log.txt") == "remote\nfirst\n")
    #expect(write(descriptor, "second\n", 7) == 7)
    _ = try other.notebook.save()
    #expect(try other.read("log.txt") == "remote\nfirst\nsecond\n")
    #expect(write(descriptor, "third\n", 6) == 6)
    close(descriptor)
    // A program that another test is starting holds it for an instant more.
    let lingering = other.notebook.stateFolder.path + "/lingering"
    let end = ContinuousClock.now + .seconds(120)
    repeat { _ = try other.notebook.save() } while access(lingering, F_OK) == 0 && .now < end
    #expect(try other.read("log.txt") == "remote\nfirst\nsecond\nthird\n")
    #expect(access(lingering, F_OK) != 0)
    #expect(try other.notebook.save().version == nil)
  }
}
