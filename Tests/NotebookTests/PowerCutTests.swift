import Git
import Glibc
import NotebookSupport
import System
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-save(1), "After a power cut".
@Suite("Notes that a power cut damaged")
struct PowerCutTests {
  static let text = String(repeating: "a line of the newest text\n", count: 300)
  let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "an older text\n")
    try home.write("b.txt", "b\n")
    _ = try home.notebook.save()
    try home.write("a.txt", Self.text)
    _ = try home.notebook.save()
  }

  /// Lets the machine be started anew, after this was left in the note.
  func cut(_ bytes: [UInt8], in name: String = "a.txt", isWrittenSince: Bool = false) throws {
    try writeFile(home.path + "/" + name, bytes)
    if !isWrittenSince {
      try #require(try run(["touch", "-d", "2020-01-01", home.path + "/" + name]).isSuccess)
    }
    try home.write(".git/notes/machine", "1\n00000000-0000-4000-8000-000000000000\n")
  }

  func saved() throws -> String {
    try home.git(["show", "HEAD:a.txt"])
  }

  static let damages: [(DamageKind, [UInt8])] = [
    (.empty, []), (.zeros, [UInt8](repeating: 0, count: 4096)),
    (.shortened, Array(text.utf8.prefix(4096))), (.shortened, Array(text.utf8.prefix(17))),
    (.shortened, Array(text.utf8.prefix(4096)) + [UInt8](repeating: 0, count: 3704)),
    (.older, Array("an older text\n".utf8)),
  ]

  @Test("stay as they are, are named, and come back", arguments: 0..<damages.count)
  func damaged(number: Int) throws {
    let (damage, bytes) = Self.damages[number]
    try cut(bytes)
    let skipped = [SkippedFile(path: "a.txt", reason: .cut(damage))]
    #expect(try home.notebook.status().skipped == skipped)
    #expect(try home.notebook.status().changes.isEmpty)
    let tip = try #require(try home.notebook.state().tip)
    // The second command runs since the same start, and has not forgotten.
    for _ in 0..<2 {
      let result = try home.notebook.save()
      #expect(result.version == nil)
      #expect(result.skipped == skipped)
    }
    #expect(try readFile(home.path + "/a.txt") == bytes)

    let back = try #require(try home.notebook.restoreDamagedFiles())
    #expect(back.files == skipped)
    #expect(try home.read("a.txt") == Self.text)
    let repository = home.notebook.repository
    let version = try repository.commit(back.version)
    #expect(try version.tree == repository.commit(tip).tree)
    #expect(version.parents.first == tip)
    let left = try repository.commit(#require(version.parents.last))
    let entry = try #require(try repository.entry(at: "a.txt", in: left.tree))
    #expect(try repository.blob(entry.id) == bytes)
    #expect(try home.notebook.restoreDamagedFiles() == nil)
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.status().skipped.isEmpty)
    #expect(try home.git(["status", "--porcelain"]) == "")
  }

  @Test("what was written since the start, or is none of these, is an edit")
  func ordinary() throws {
    try cut([], isWrittenSince: true)
    #expect(try home.notebook.save().version != nil)
    #expect(try saved() == "")
    try home.write("a.txt", Self.text)
    _ = try home.notebook.save()
    try cut(Array((Self.text + "more\n").utf8))
    #expect(try home.notebook.save().version != nil)
    // The machine has been looked at since its start.
    try home.write("a.txt", "")
    try #require(try run(["touch", "-d", "2020-01-01", home.path + "/a.txt"]).isSuccess)
    #expect(try home.notebook.save().version != nil)
    #expect(try saved() == "")
    // A note that no version has.
    try cut([0, 0], in: "new.txt")
    #expect(try home.notebook.save().changes.map(\.path) == ["new.txt"])
  }

  /// "neither is one that somebody shortened or took back to an older text"
  @Test(
    "what somebody wrote before the machine was shut down is an edit",
    arguments: [String(text.prefix(17)), "an older text\n", ""])
  func writtenByHand(edit: String) throws {
    try home.write("a.txt", edit)
    let now = time(nil)
    try #require(try run(["touch", "-d", "@\(now + 50)", home.path + "/a.txt"]).isSuccess)
    home.notebook.workTree.machine = MachineStart(
      id: "another", time: timespec(tv_sec: now + 100, tv_nsec: 0))
    let isTaken = try home.notebook.save().version != nil
    #expect(isTaken == !edit.isEmpty)
  }

  @Test("a save that names the note, and one after somebody wrote into it, take it as it is")
  func meant() throws {
    try cut([])
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.save(only: ["a.txt"]).version != nil)
    #expect(try saved() == "")
    try home.write("a.txt", Self.text)
    _ = try home.notebook.save()
    try cut([])
    #expect(try home.notebook.save().version == nil)
    try home.write("a.txt", "begun anew\n")
    #expect(try home.notebook.save().skipped.isEmpty)
    #expect(try saved() == "begun anew\n")
  }

  @Test("other notes go on, and what arrives brings them back first")
  func others() throws {
    let ben = try home.clone(device: "Ben")
    try ben.write("a.txt", Self.text + "from Ben\n")
    _ = try ben.notebook.save()
    try cut([])
    try home.write("b.txt", "edited\n")
    #expect(try home.notebook.save().changes.map(\.path) == ["b.txt"])
    #expect(try home.read("a.txt") == "")
    try home.receive(from: ben)
    #expect(try home.read("a.txt") == Self.text + "from Ben\n")
    try ben.receive(from: home)
    #expect(try ben.read("a.txt") == Self.text + "from Ben\n")
    #expect(try ben.notebook.state().tip == home.notebook.state().tip)
  }

  /// The cut fell between a version and its index, which still has what the version before has.
  @Test("where git's index is behind as well", arguments: [false, true])
  func indexBehind(isWhole: Bool) throws {
    let index = try readFile(home.path + "/.git/index")
    try home.write("a.txt", Self.text + "more\n")
    _ = try home.notebook.save()
    try writeFile(home.path + "/.git/index", index)
    // The file is the newest one, or as old as the index.
    let text = isWhole ? Self.text + "more\n" : Self.text
    try cut(Array(text.utf8))
    let skipped: [SkipReason] = isWhole ? [] : [.cut(.shortened)]
    let result = try home.notebook.save()
    #expect(result.version == nil)
    #expect(result.skipped.map(\.reason) == skipped)
    #expect(try (home.notebook.restoreDamagedFiles() == nil) == isWhole)
    #expect(try home.read("a.txt") == Self.text + "more\n")
    // The index does not know the note at all.
    try home.write("c.txt", "c\n")
    let older = try readFile(home.path + "/.git/index")
    _ = try home.notebook.save()
    try writeFile(home.path + "/.git/index", older)
    try cut(isWhole ? Array("c\n".utf8) : [], in: "c.txt")
    #expect(try home.notebook.save().version == nil)
    _ = try home.notebook.restoreDamagedFiles()
    #expect(try home.read("c.txt") == "c\n")
    #expect(try home.git(["status", "--porcelain"]) == "")
  }

  @Test("what an interrupted checkout meets is not merged")
  func interruptedCheckout() throws {
    let ben = try home.clone(device: "Ben")
    try ben.write("a.txt", Self.text + "from Ben\n")
    let theirs = try #require(try ben.notebook.save().version)
    try home.copyObjects(from: ben)
    let journal = CheckoutJournal(from: try home.notebook.state().tip, to: theirs)
    let plan = try journal.plan(in: home.notebook.repository)
    try Checkout(in: home.notebook.workTree, plan: plan, journal: journal).stage()
    try cut([])
    let fresh = try Notebook.open(at: home.path)
    _ = try fresh.save()
    #expect(try home.read("a.txt") == Self.text + "from Ben\n")
    #expect(try fresh.history.conflicts().isEmpty)
    #expect(try home.git(["status", "--porcelain"]) == "")
  }

  @Test("an undo and a restore of the notebook meet the last version")
  func undo() throws {
    try home.write("b.txt", "edited\n")
    _ = try home.notebook.save()
    try cut([])
    _ = try home.notebook.undo()
    #expect(try home.read("a.txt") == Self.text)
    try cut([])
    let tip = try home.notebook.repository.commit(#require(try home.notebook.state().tip))
    _ = try home.notebook.restore(from: tip, label: "now")
    #expect(try home.read("a.txt") == Self.text)
  }
}
