import Git
import NotebookSupport
import State
import System
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "The stale editor": a save that takes back exactly what the last checkouts brought
/// into a note is an edit of the version its editor had loaded: it is committed on that version and
/// merged.
@Suite("An editor that had loaded a note before a sync replaced it")
struct StaleEditorTests {
  let home: Fixture
  let other: Fixture
  let loaded = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

  init() throws {
    home = try Fixture()
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
    // On the other device somebody edits the second line; the sync brings it here.
    try other.write("n.txt", "one\nTWO\nthree\nfour\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nfour\nfive\nsix\nseven\n")
  }

  @Test("its save is merged with what it had not seen")
  func merged() throws {
    home.seconds.now += 60
    try home.write("n.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    let saved = try home.notebook.save()
    #expect(saved.version != nil)
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n")
    #expect(try home.notebook.status().changes.isEmpty)
    #expect(try home.notebook.save().version == nil)
    // The edit is on record as made on the loaded text, by this device.
    let edit = try home.notebook.history.version(named: "~0", of: "n.txt", isByPerson: true)
    #expect(edit.author.name == "Ada")
    try other.receive(from: home)
    #expect(try other.read("n.txt") == "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n")
  }

  @Test("its next save, still without what the merge brought, is merged as well")
  func twice() throws {
    try home.write("n.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    _ = try home.notebook.save()
    try home.write("n.txt", "one\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nfour\nFIVE\nsix\nSEVEN\n")
  }

  @Test("where git removed what the folder held before the checkouts, saves go on")
  func removedByGit() throws {
    // Two edits beside each other, and then another: the merge between is in no version's history.
    try home.write("m.txt", "m\n")
    _ = try home.notebook.save()
    try other.write("n.txt", "one\nTWO\nthree\nFOUR\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    // A text that nobody reads before the next one comes is not remembered.
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nFOUR\nfive\nsix\nseven\n")
    try other.write("n.txt", "one\nTWO\nthree\nFOUR\nFIVE\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    let bases = CheckoutLog(stateFolder: home.notebook.stateFolder).entries.map(\.base)
    _ = try home.git(["reflog", "expire", "--expire=now", "--all"])
    _ = try home.git(["gc", "--quiet", "--prune=now"])
    let fresh = try Notebook.open(at: home.path)
    #expect(try bases.contains { try !fresh.repository.contains($0) })
    try home.write("n.txt", "one\nTWO\nthree\nFOUR\nfive\nsix\nSEVEN\n")
    #expect(try fresh.save().version != nil)
  }

  @Test("two checkouts under an open editor are both kept")
  func twoCheckouts() throws {
    try other.write("n.txt", "one\nTWO\nthree\nFOUR\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    try home.write("n.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nFOUR\nfive\nsix\nSEVEN\n")
  }

  @Test("a save without an edit of its own only brings back what was not seen")
  func noEdit() throws {
    let tip = try home.notebook.state().tip
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nfour\nfive\nsix\nseven\n")
    #expect(try home.notebook.state().tip == tip)
    // As `:w` and then `:wq` do: what an editor wrote is what it holds.
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO\nthree\nfour\nfive\nsix\nseven\n")
    #expect(try home.notebook.state().tip == tip)
  }

  /// "But if only a derived merge has that text, and the tip no longer descends from it, the save makes a
  /// version without a change on that merge."
  @Test("a text that only a merge had which gave way stays in history")
  func mergedText() throws {
    try home.write("n.txt", "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n")
    _ = try home.notebook.save()
    try other.write("n.txt", "one\nTWO\nthree\nFOUR\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    let merged = try #require(try home.read("n.txt"))
    #expect(merged == "one\nTWO\nthree\nFOUR\nfive\nsix\nSEVEN\n")
    try other.write("n.txt", "ONE\nTWO\nthree\nFOUR\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    // Somebody takes one line back, or saves what an editor had loaded: nobody can tell.
    try home.write("n.txt", merged)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "ONE\nTWO\nthree\nFOUR\nfive\nsix\nSEVEN\n")
    let text = try home.notebook.repository.hash(blob: Array(merged.utf8)).hex
    #expect(try home.git(["rev-list", "--objects", "HEAD"]).contains(text))
    let tip = try home.notebook.state().tip
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.state().tip == tip)
    try other.receive(from: home)
    #expect(try other.notebook.state().tip == tip)
  }

  @Test("an edit of the same line meets the other side in a conflict, when another line tells")
  func sameLine() throws {
    try other.write("n.txt", "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    try home.write("n.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nnine\n")
    _ = try home.notebook.save()
    let text = try #require(try home.read("n.txt"))
    #expect(text.contains("TWO") && text.contains("eight") && text.contains("nine"))
  }

  @Test("whoever has seen the new text edits it as usual")
  func seen() throws {
    try home.write("n.txt", "one\nTWO and a half\nthree\nfour\nfive\nsix\nseven\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO and a half\nthree\nfour\nfive\nsix\nseven\n")
    // From then on the old text is a wish like any other.
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == loaded)
  }

  @Test("restore takes back what a sync brought")
  func restore() throws {
    let before = try home.notebook.history.version(named: "~1", of: "n.txt")
    _ = try home.notebook.restore("n.txt", from: before)
    #expect(try home.read("n.txt") == loaded)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("a line as notes 1.0 wrote it, without the time, is no damage")
  func linesOfTheFirstRelease() throws {
    let state = home.notebook.stateFolder
    let entry = try #require(CheckoutLog(stateFolder: state).entries.first)
    let former = "\(entry.base) \(entry.old) \(ObjectID.zero) \(entry.path.hexadecimal)\n"
    let now = try Disk.read(state[.brought])
    try Disk.replace(state[.brought], with: Array(former.utf8) + now, waits: false)
    #expect(CheckoutLog(stateFolder: state).entries.first == entry)
    #expect(try !Disk.names(in: state.path).contains { $0.hasSuffix(".damaged") })
    try Disk.replace(state[.brought], with: Array("1 2 3\n".utf8) + now, waits: false)
    #expect(CheckoutLog(stateFolder: state).entries.isEmpty)
    #expect(try Disk.names(in: state.path).contains("brought.damaged"))
  }

  @Test("a run killed while it swaps the merged text in is finished by the next command")
  func interrupted() throws {
    let stale = "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n"
    try home.write("n.txt", stale)
    let notebook = home.notebook
    // All of the save but its checkout.
    let log = CheckoutLog(stateFolder: notebook.stateFolder)
    let text = try notebook.repository.write(blob: Array(stale.utf8))
    let head = try notebook.repository.head()
    let from = try notebook.repository.commit(#require(head.commit))
    let current = try #require(try notebook.repository.entry(at: "n.txt", in: from.tree))
    let unseen = try #require(log.entries(for: "n.txt").first)
    #expect(unseen.new == current.id)
    let base = try notebook.repository.commit(unseen.base)
    let entry = TreeEntry(name: "n.txt", mode: .regular, id: text)
    let edit = try VersionWriter(notebook.history, device: notebook.identity.device).makeVersion(
      of: notebook.repository.write(tree: base.tree, replacing: ["n.txt": entry]),
      parents: [base], message: "x")
    let tip = try DerivedMerge.tip(
      of: DerivedMerge.reduce([from.id, edit], in: notebook.repository), in: notebook.repository)
    var journal = CheckoutJournal(from: from.id, to: tip.id)
    journal.overlay = [CheckoutJournal.Overlay(path: "n.txt", file: entry, base: edit)]
    try Checkout(
      in: notebook.workTree, plan: journal.plan(in: notebook.repository), journal: journal
    ).stage()
    // The editor saves once more before the next command runs.
    try home.write("n.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    let fresh = try Notebook.open(at: home.path)
    fresh.clock = notebook.clock
    _ = try fresh.save()
    #expect(try home.read("n.txt") == "ONE\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n")
    #expect(try fresh.save().version == nil)
  }

  @Test("whoever settles a conflict that a sync brought is taken at their word")
  func conflict() throws {
    try home.write("n.txt", "one\nmine\nthree\nfour\nfive\nsix\nseven\n")
    _ = try home.notebook.save()
    try other.write("n.txt", "one\ntheirs\nthree\nfour\nfive\nsix\nseven\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try home.notebook.history.conflicts().count == 1)
    #expect(try home.read("n.txt")?.contains("theirs") == true)
    let settled = "one\nmine and theirs\nthree\nfour\nfive\nsix\nseven\n"
    try home.write("n.txt", settled)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == settled)
    #expect(try home.notebook.history.conflicts().isEmpty)
  }

  @Test("whoever writes the note anew is taken at their word")
  func rewritten() throws {
    try home.write("n.txt", "something\nelse\naltogether\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "something\nelse\naltogether\n")
  }
}
