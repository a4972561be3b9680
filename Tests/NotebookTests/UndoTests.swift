import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-undo(1): what was done is taken back as a new version, byte for byte, and done again.
@Suite struct UndoTests {
  @Test(arguments: UndoDeed.all)
  func `Undo gives the former bytes, redo gives them back, and history only grows`(
    deed: UndoDeed
  ) throws {
    let home = try Fixture.withHistory()
    try deed.prepare(home)
    let before = try home.texts()
    let conflicts = try home.sides()
    try deed.act(home)
    let after = try home.texts()
    let conflictsAfter = try home.sides()
    #expect(try home.notebook.history.operations().first?.kind == deed.kind)
    #expect(after != before)

    let trial = try home.notebook.undo(trial: true)
    #expect(try home.texts() == after)
    let undone = try home.growing { try home.notebook.undo() }
    #expect(try home.texts() == before)
    #expect(try home.sides() == conflicts)
    #expect(trial.changes == undone.changes && trial.operations == undone.operations)
    #expect(undone.operations.map(\.kind) == [deed.kind])

    let again = try home.notebook.redo(trial: true)
    let redone = try home.growing { try home.notebook.redo() }
    #expect(again.changes == redone.changes)
    #expect(try home.texts() == after)
    #expect(try home.sides() == conflictsAfter)
    // A redo is an operation.
    _ = try home.growing { try home.notebook.undo() }
    #expect(try home.texts() == before)
    _ = try home.notebook.redo()
    #expect(try home.texts() == after)
    #expect(throws: NotebookError.self) { try home.notebook.redo() }
  }

  // An undo is no operation (every deed is followed by some), a continuation is a part of one, and nobody can
  // undo a forgetting: notes-forget(1).
  @Test func `There is a deed of every kind`() {
    let parts: Set<OperationKind> = [.undo, .continuation, .forget]
    #expect(Set(UndoDeed.all.map(\.kind)) == Set(OperationKind.allCases).subtracting(parts))
  }

  @Test func `Several are taken back one by one or together, down to the first version`() throws {
    let home = try Fixture()
    for number in 1...5 {
      try home.write("Note.txt", "\(number)\n")
      _ = try home.notebook.save()
    }
    _ = try home.notebook.undo()
    _ = try home.notebook.undo()
    #expect(try home.read("Note.txt") == "3\n")
    _ = try home.notebook.undo(.last(2))
    #expect(try home.read("Note.txt") == "1\n")
    #expect(throws: NotebookError.self) { try home.notebook.undo() }
    for expected in ["3\n", "4\n", "5\n"] {
      _ = try home.notebook.redo()
      #expect(try home.read("Note.txt") == expected)
    }
    // 5 versions, 3 undos, 3 redos.
    #expect(try home.notebook.history.versions().all().count == 11)
    #expect(throws: NotebookError.self) { try home.notebook.undo(.last(99)) }
  }

  // notes-undo(1): "The command skips operations … that changed nothing".
  @Test func `An operation that changed nothing is passed over`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "one\n")
    _ = try home.notebook.save()
    let ben = try home.clone(device: "Ben")
    try home.write("Note.txt", "two\n")
    _ = try home.notebook.save()
    ben.seconds.now += 60
    try ben.write("Note.txt", "two\n")
    _ = try ben.notebook.save()
    try home.receive(from: ben)
    #expect(try home.notebook.history.operations().map(\.kind) == [.receive, .save, .save])
    let undone = try home.growing { try home.notebook.undo() }
    #expect(undone.operations.map(\.kind) == [.save])
    #expect(try home.read("Note.txt") == "one\n")
    _ = try home.notebook.redo()
    #expect(try home.read("Note.txt") == "two\n")
    // The first version cannot be undone, so there is one operation to undo.
    #expect {
      try home.notebook.undo(.last(2))
    } throws: { error in
      if case NotebookError.nothingToUndo(available: 1) = error { true } else { false }
    }
  }

  // notes-undo(1): "Changes that are not saved yet are saved first, and that save is the last
  // operation."
  @Test func `Unsaved changes are what is taken back first`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "one\n")
    _ = try home.notebook.save()
    try home.write("Note.txt", "not saved\n")
    #expect(try home.notebook.undo(trial: true).changes.map(\.path) == ["Note.txt"])
    #expect(try home.read("Note.txt") == "not saved\n")
    _ = try home.notebook.undo()
    #expect(try home.read("Note.txt") == "one\n")
    _ = try home.notebook.redo()
    #expect(try home.read("Note.txt") == "not saved\n")
  }

  // notes-undo(1): "the operation that led to it is taken back alone; what came later stays".
  @Test func `One operation is taken back from under later ones`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "a\nb\nc\nd\ne\n")
    _ = try home.notebook.save()
    let renamed = try #require(try home.notebook.rename("Note.txt", to: "Paper.txt").version)
    try home.write("Paper.txt", "A\nb\nc\nd\ne\n")
    let edited = try #require(try home.notebook.save().version)
    try home.write("Paper.txt", "A\nb\nc\nd\nE\n")
    _ = try home.notebook.save()
    _ = try home.growing { try home.notebook.undo(.version(String(edited.hex.prefix(8)))) }
    #expect(try home.read("Paper.txt") == "a\nb\nc\nd\nE\n")
    _ = try home.growing { try home.notebook.undo(.version(renamed.hex)) }
    #expect(try home.read("Note.txt") == "a\nb\nc\nd\nE\n")
    #expect(try home.read("Paper.txt") == nil)
    #expect(throws: NotebookError.self) { try home.notebook.undo(.version(renamed.hex)) }
    _ = try home.notebook.redo()
    _ = try home.notebook.redo()
    #expect(try home.read("Paper.txt") == "A\nb\nc\nd\nE\n")
  }

  // notes-undo(1): "Where later edits changed the same lines, the command refuses".
  @Test func `Later edits of the same lines are in the way, and nothing changes`() throws {
    let home = try Fixture()
    for text in ["x\n", "y\n", "z\n"] {
      try home.write("Note.txt", text)
      _ = try home.notebook.save()
    }
    let second = try home.notebook.history.version(named: "~1")
    let tip = try home.notebook.state().tip
    #expect {
      try home.notebook.undo(.version(second.id.hex))
    } throws: { error in
      guard case NotebookError.undoConflict(let paths) = error else { return false }
      return paths == ["Note.txt"]
    }
    #expect(try home.notebook.state().tip == tip)
    #expect(try home.read("Note.txt") == "z\n")
  }

  @Test func `What a foreign commit did is taken back too`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "one\n")
    let first = try home.notebook.repository.commit(try #require(try home.notebook.save().version))
    let blob = try home.notebook.repository.write(blob: Array("by hand\n".utf8))
    let tree = try home.notebook.repository.write(
      tree: first.tree,
      replacing: ["Note.txt": TreeEntry(name: "Note.txt", mode: .regular, id: blob)])
    let author = Signature(name: "Eve", email: "eve@example.org", time: 1_700_000_100, offset: 0)
    let made = try home.notebook.repository.write(
      commit: tree, parents: [first.id], author: author, committer: author, message: "By hand\n")
    try home.notebook.repository.update(
      reference: home.notebook.repository.head().reference, to: made, from: first.id,
      message: "commit: By hand")
    try home.write("Note.txt", "by hand\n")
    #expect(try home.notebook.history.operations().map(\.kind) == [.git, .save])
    #expect(try home.notebook.history.operations().map(\.summary) == ["By hand", "Add Note"])
    _ = try home.notebook.undo()
    #expect(try home.read("Note.txt") == "one\n")
  }

  // notes-undo(1), "Operations": lines that are no lines of the log are passed over.
  @Test func `A log with hostile bytes is read as far as it makes sense`() throws {
    let home = try Fixture()
    for text in ["1\n", "2\n", "3\n"] {
      try home.write("Note.txt", text)
      _ = try home.notebook.save()
    }
    let path = home.path + "/.git/logs/" + (try home.notebook.repository.head().reference)
    let good = try readFile(path)
    let lines = good.split(separator: 0x0A)
    let zeros = String(repeating: "0", count: 40)
    let tip = try #require(try home.notebook.state().tip)
    let lost = "\(tip) \(String(repeating: "a", count: 40)) A <a> 9 +0000\tnotes: save"
    let junk: [[UInt8]] = [
      [0xFF, 0x00, 0x1B], Array("\(zeros) \(zeros) no mail".utf8),
      Array(repeating: 0x41, count: 5000),
      Array("\(String(repeating: "f", count: 40)) \(zeros) x <y> notanumber\tz".utf8), [],
      // A line that libgit2 wrote before the branch moved, which then did not.
      Array(lost.utf8),
    ]
    var hostile: [UInt8] = []
    for line in lines { hostile += junk.joined(separator: [0x0A]) + [0x0A] + line + [0x0A] }
    hostile += junk.joined(separator: [0x0A])
    try writeFile(path, hostile)
    #expect(try home.notebook.history.operations().map(\.kind) == [.save, .save, .save])
    _ = try home.notebook.undo(.last(2))
    #expect(try home.read("Note.txt") == "1\n")
    // Without any log there is nothing to undo, and nothing is lost.
    try home.remove(".git/logs")
    #expect(try home.notebook.history.operations().isEmpty)
    #expect(throws: NotebookError.self) { try home.notebook.undo() }
  }

  @Test func `Undoing a mass deletion is asked about only where it deletes`() throws {
    let home = try Fixture()
    _ = try home.notebook.create("First.txt", text: [])
    for number in 1...12 { try home.write("\(number).txt", "\(number)\n") }
    _ = try home.notebook.save()
    #expect(throws: NotebookError.self) { try home.notebook.undo() }
    _ = try home.notebook.undo(allowsMassDeletion: true)
    #expect(try home.notebook.history.notes().map(\.title) == ["First"])
    _ = try home.notebook.redo()
    #expect(try home.notebook.history.notes().count == 13)
    // A folder that was emptied by mistake comes back without a question.
    for number in 1...12 { try home.remove("\(number).txt") }
    #expect(throws: NotebookError.self) { try home.notebook.save() }
    _ = try home.notebook.undo()
    #expect(try home.notebook.history.notes().count == 13)
  }
}

extension VersionWalk {
  fileprivate func all() throws -> [Version] {
    var found: [Version] = []
    while let version = try next() { found.append(version) }
    return found
  }
}
