import Git
import Glibc
import Merge
import NotebookSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// Making, renaming and deleting notes, and bringing back what was.
@Suite struct NotesTests {
  // notes-new(1), "Titles".
  @Test(
    arguments: [
      ("Rome", "", "Rome.txt"), ("Rome.md", "", "Rome.md"), ("a/b/Rome", "", "a/b/Rome.txt"),
      ("Rome", "trips", "trips/Rome.txt"), ("./Rome", "trips", "trips/Rome.txt"),
      ("../Rome", "trips", "Rome.txt"), ("a.b", "", "a.b.txt"), ("-x", "", "-x.txt"),
      ("a..", "", "a...txt"), ("😀", "", "😀.txt"),
    ] as [(String, TreePath, TreePath)])
  func `A title becomes a path`(title: String, folder: TreePath, expected: TreePath) throws {
    let home = try Fixture()
    #expect(try home.notebook.path(titled: title, in: folder) == expected)
  }

  @Test(arguments: [
    "", "/", "a/", "/a", "a//b", ".", "..", "../x", "a/../../x", ".git/x", ".GIT/x", "git~1/x",
    "a\nb", "a\u{1B}b", "a\u{85}b", String(repeating: "x", count: 252),
    "x/" + String(repeating: "é", count: 128), "#x#/y", "~/x.tmp/y", ".txt", ".x/y", "x/.y.txt",
    String(repeating: "abcdefg/", count: 600) + "x",
  ])
  func `A title that is none is refused`(title: String) throws {
    let home = try Fixture()
    #expect {
      try home.notebook.path(titled: title)
    } throws: { error in
      guard case NotebookError.unfitTitle(title, _) = error else { return false }
      return true
    }
  }

  @Test func `What git leaves out is no note`() throws {
    let home = try Fixture()
    try home.write(".gitignore", "private/\n*.bak.txt\n")
    #expect(throws: NotebookError.self) { try home.notebook.path(titled: "a.bak") }
    #expect(try home.notebook.path(titled: "a") == "a.txt")
  }

  @Test func `Notes are counted by their suffixes, as the last version has them`() throws {
    let home = try Fixture()
    let files = ["a.txt", "b.MD", "c.png", "txt", "d/e.md", "d/f/txt"]
    for file in files { try home.write(file, "text") }
    _ = try home.notebook.save()
    try home.write("unsaved.txt", "new")
    #expect(try home.notebook.history.noteCount() == 3)
  }

  // A peer may send any bytes as a name.
  @Test func `A name that is not UTF-8 keeps its suffix, and hinders no other`() throws {
    let odd = TreePath(bytes: [0xFF, 0xFE, 0xFF, 0xFF] + Array(".txt".utf8))
    #expect(odd.noteSuffix == ".txt" && odd.withoutNoteSuffix.bytes == [0xFF, 0xFE, 0xFF, 0xFF])
    let home = try Fixture()
    _ = try home.notebook.create("Plan.md", text: [])
    _ = try home.notebook.rename("Plan.md", to: odd)
    _ = try home.notebook.create("trips/Rome.md", text: [])
    #expect(try home.notebook.history.note(named: "rom") == "trips/Rome.md")
    #expect(throws: WorkTreeError.self) { try home.notebook.history.note(named: "") }
  }

  // notes-new(1): "nothing is ever overwritten".
  @Test(
    arguments: [
      ("Note.txt", "Note.txt"), ("NOTE.txt", "Note.txt"), ("Note.md", "Note.txt"),
      ("Trips/x.txt", "trips"), ("trips", "trips"), ("Note.txt/x.txt", "Note.txt"),
      ("caf\u{65}\u{301}.txt", "caf\u{E9}.txt"),
    ] as [(TreePath, TreePath)])
  func `A name that is taken is refused`(path: TreePath, by: TreePath) throws {
    let home = try Fixture()
    try home.write("Note.txt", "here\n")
    try home.write("caf\u{E9}.txt", "accent\n")
    try home.write("trips/Rome.md", "forum\n")
    #expect {
      try home.notebook.create(path, text: [], anySuffix: true)
    } throws: { error in
      guard case NotebookError.nameTaken(path, let other, _) = error else { return false }
      return other == by
    }
    #expect(try home.read("Note.txt") == "here\n")
    #expect(try home.notebook.create("trips.txt", text: []) != nil)
  }

  @Test func `A rename stays a rename whatever was edited, and whatever is alike`() throws {
    let home = try Fixture()
    // Three notes with the same bytes: only the version can tell which one moved.
    for name in ["A.txt", "B.txt", "C.txt"] { try home.write(name, "same\n") }
    _ = try home.notebook.save()
    let ids = Dictionary(
      uniqueKeysWithValues: try home.notebook.history.notes().map { ($0.path, $0.id) })
    try home.write("B.txt", "quite another text, not saved\n")
    let done = try home.notebook.rename("B.txt", to: "x/Z.txt")
    #expect(done.files.map(\.new) == ["x/Z.txt"])
    #expect(try home.read("x/Z.txt") == "quite another text, not saved\n")
    let last = try #require(try home.notebook.history.versions().next())
    #expect(last.changes.map(\.kind) == [.renamed])
    #expect(try home.notebook.history.notes().first { $0.path == "x/Z.txt" }?.id == ids["B.txt"])

    _ = try home.notebook.delete(["x"])
    let version = try #require(try home.notebook.rename("C.txt", to: "D.txt").version)
    let both = try home.notebook.repository.commit(version)
    #expect(both.message.contains(#"Notes-Renamed: "C.txt" "D.txt""#))
    #expect(try home.notebook.history.notes().first { $0.path == "D.txt" }?.id == ids["C.txt"])
    #expect(throws: NotebookError.self) { try home.notebook.rename("D.txt", to: "A.txt") }
    #expect(throws: NotebookError.self) { try home.notebook.rename("D.txt", to: "a.txt") }
    _ = try home.notebook.rename("D.txt", to: "d.txt")
    #expect(try home.read("d.txt") == "same\n")
  }

  @Test func `Two alike that change places in one version are told apart by its message`() throws {
    let home = try Fixture()
    for name in ["one/A.txt", "one/B.txt"] { try home.write(name, "same\n") }
    _ = try home.notebook.save()
    let ids = try home.notebook.history.notes().map(\.id)
    _ = try home.notebook.rename(folder: "one", to: "two/three")
    #expect(
      try home.notebook.history.notes().map(\.path) == ["two/three/A.txt", "two/three/B.txt"])
    #expect(try home.notebook.history.notes().map(\.id) == ids)
    #expect(throws: NotebookError.self) {
      try home.notebook.rename(folder: "two", to: "two/three/four")
    }
    _ = try home.notebook.undo()
    #expect(try home.notebook.history.notes().map(\.path) == ["one/A.txt", "one/B.txt"])
    #expect(try home.notebook.history.notes().map(\.id) == ids)
  }

  @Test(arguments: [
    RenameTrailer(from: "a b.txt", to: "c.txt"), RenameTrailer(from: "a\"b", to: "c\\d\n"),
    RenameTrailer(from: TreePath(bytes: [0xFF, 0x20]), to: "\" \""),
    RenameTrailer(from: "trips", to: "far/travels", isFolder: true),
  ])
  func `What a version says of a rename is read again`(trailer: RenameTrailer) {
    let message = "Subject\n\nNotes-Renamed: broken\n\(trailer.line)\nNotes-Merge: 1\n"
    #expect(RenameTrailer.all(in: message) == [trailer])
    #expect(RenameTrailer.all(in: trailer.inverse.line).map(\.inverse) == [trailer])
  }

  @Test(arguments: ["", "\"", "\"a\"", "\"\" \"\"", "\"/\" \"/\"", "\"a\" \"\\9\"", "a b"])
  func `A line that says nothing is passed over`(value: String) {
    #expect(RenameTrailer.all(in: "Notes-Renamed: \(value)").isEmpty)
  }

  // notes-list(1), "Note IDs".
  @Test func `An ID stays through edits, renames, deletion and restoring, on every device`() throws
  {
    let ada = try Fixture(device: "Ada")
    try ada.write("Plan.txt", "one\n")
    _ = try ada.notebook.save()
    let id = try #require(try ada.notebook.history.notes().first?.id)
    #expect(id.utf8.count == 12)
    let ben = try ada.clone(device: "Ben")
    #expect(try ben.notebook.history.notes().map(\.id) == [id])
    // Both edit, one renames, they meet.
    ada.seconds.now += 10
    _ = try ada.notebook.rename("Plan.txt", to: "Summer.txt")
    ben.seconds.now += 20
    try ben.write("Plan.txt", "one\ntwo\n")
    _ = try ben.notebook.save()
    try ada.receive(from: ben)
    try ben.receive(from: ada)
    for device in [ada, ben] {
      #expect(try device.notebook.history.notes().map(\.path) == ["Summer.txt"])
      #expect(try device.notebook.history.notes().map(\.id) == [id])
      #expect(try device.notebook.history.note(named: id) == "Summer.txt")
    }
    _ = try ben.notebook.delete(["Summer.txt"])
    let last = try #require(try ben.notebook.history.lastVersion(with: "Summer.txt"))
    _ = try ben.notebook.restore("Summer.txt", from: last)
    #expect(try ben.notebook.history.notes().map(\.id) == [id])
    try ada.receive(from: ben)
    #expect(try ada.notebook.history.notes().map(\.id) == [id])
  }

  // notes(1), "Names of notes".
  @Test func `A deleted note is found by its whole name or ID, after the notes that are there`()
    throws
  {
    let home = try Fixture()
    for name in ["n9", "n90", "n91", "trips/Plan", "Plan B"] {
      try home.write(name + ".txt", "\(name)\n")
    }
    _ = try home.notebook.save()
    let ids = Dictionary(
      uniqueKeysWithValues: try home.notebook.history.notes().map { ($0.title, $0.id) })
    _ = try home.notebook.rename("trips/Plan.txt", to: "far/Plan.txt")
    _ = try home.notebook.delete(["n9.txt", "far"])
    func found(_ name: String, _ reach: NoteReach = .deleted) throws -> TreePath {
      try home.notebook.history.note(named: name, among: reach)
    }
    #expect(try found("n9") == "n9.txt" && found("N9") == "n9.txt" && found("n9.txt") == "n9.txt")
    #expect(throws: HistoryError.self) { try found("n9", .present) }
    #expect(throws: HistoryError.self) { try found("n") }
    #expect(try found("plan") == "far/Plan.txt" && found("plan", .present) == "Plan B.txt")
    // By their IDs, which they have again when they come back.
    for (title, path) in [("n9", "n9.txt"), ("Plan", "far/Plan.txt")] as [(String, TreePath)] {
      let id = try #require(ids[title])
      #expect(try found(id) == path && found(id.uppercased()) == path)
      #expect(throws: WorkTreeError.self) { try found(id, .present) }
      #expect(try home.notebook.history.deletedFiles().first { $0.path == path }?.id == id)
    }
    let last = try #require(try home.notebook.history.lastVersion(with: "far/Plan.txt"))
    _ = try home.notebook.restore("far/Plan.txt", from: last)
    #expect(try home.notebook.history.notes().first { $0.title == "Plan" }?.id == ids["Plan"])
    // One of the same name comes before it; what it was called earlier comes last.
    try home.write("else/n9.txt", "new\n")
    #expect(try found("n9") == "else/n9.txt" && found("n9.txt") == "n9.txt")
    #expect(throws: WorkTreeError.self) { try found("trips/Plan") }
    #expect(try found("trips/Plan", .former) == "trips/Plan.txt")
    // What is gone from the folder, saved or not, is deleted.
    try home.remove("n90.txt")
    let gone = try #require(ids["n90"])
    #expect(try found(gone) == "n90.txt")
    #expect(try home.notebook.history.deletedFiles().first?.id == gone)
  }

  @Test func `A note made twice apart has one ID from the first meeting on`() throws {
    let ada = try Fixture(device: "Ada")
    try ada.write("Other.txt", "x\n")
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    ada.seconds.now += 10
    try ada.write("Same.txt", "ada\n")
    _ = try ada.notebook.save()
    let older = try ada.notebook.history.notes().map(\.id)
    ben.seconds.now += 20
    try ben.write("Same.txt", "ben\n")
    _ = try ben.notebook.save()
    try ada.receive(from: ben)
    try ben.receive(from: ada)
    #expect(try ada.notebook.history.notes().map(\.id) == older)
    #expect(try ben.notebook.history.notes().map(\.id) == older)
  }

  @Test func `A folder and the notebook become what they were on a date`() throws {
    let home = try Fixture()
    try home.write("trips/Rome.md", "1\n")
    try home.write("Other.txt", "1\n")
    _ = try home.notebook.save()
    let ben = try home.clone(device: "Ben")
    // Two devices write on the first day; what they come to is the state of that day.
    home.seconds.now += 100
    try home.write("trips/Paris.md", "home\n")
    _ = try home.notebook.save()
    ben.seconds.now += 200
    try ben.write("Other.txt", "ben\n")
    _ = try ben.notebook.save()
    let then = ben.seconds.now
    home.seconds.now += 1_000
    try home.write("trips/Rome.md", "2\n")
    try home.write("trips/Young.md", "young\n")
    try home.write("Young.txt", "young\n")
    _ = try home.notebook.save()
    try home.receive(from: ben)

    let past = try home.notebook.history.pastTip(at: then, named: "then")
    let trial = try home.notebook.restore(folder: "trips", from: past, label: "then", trial: true)
    #expect(trial.changes.map(\.path) == ["trips/Rome.md", "trips/Young.md"])
    #expect(try home.read("trips/Young.md") == "young\n")
    let done = try home.notebook.restore(folder: "trips", from: past, label: "then")
    #expect(done.changes == trial.changes)
    #expect(try home.read("trips/Rome.md") == "1\n" && home.read("trips/Young.md") == nil)
    #expect(try home.read("Young.txt") == "young\n")
    _ = try home.notebook.restore(from: past, label: "then")
    #expect(
      try home.notebook.history.notes().map(\.path) == [
        "Other.txt", "trips/Paris.md", "trips/Rome.md",
      ])
    #expect(try home.read("Other.txt") == "ben\n")
    #expect(try home.notebook.restore(from: past, label: "then").version == nil)
    #expect(throws: HistoryError.self) {
      try home.notebook.restore(folder: "nowhere", from: past, label: "then")
    }
    #expect(throws: HistoryError.self) { try home.notebook.history.pastTip(at: 1, named: "1970") }
  }

  @Test func `Restoring does not tread on a folder that has the name now`() throws {
    let home = try Fixture()
    try home.write("trips.txt", "note\n")
    let first = try #require(try home.notebook.save().version)
    _ = try home.notebook.delete(["trips.txt"])
    try home.write("trips.txt/Rome.md", "forum\n")
    _ = try home.notebook.save()
    let then = try home.notebook.repository.commit(first)
    #expect {
      try home.notebook.restore("trips.txt", from: then)
    } throws: { error in
      guard case NotebookError.nameTaken(_, _, isFolder: true) = error else { return false }
      return true
    }
    #expect(try home.read("trips.txt/Rome.md") == "forum\n")
    _ = try home.notebook.restore("trips.txt", from: then, as: "Trips before.txt")
    #expect(try home.read("Trips before.txt") == "note\n")
  }

  @Test func `An old text with markers is in conflict again`() throws {
    let ada = try Fixture(device: "Ada")
    try ada.write("Note.txt", "x\n")
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    try ada.write("Note.txt", "ada\n")
    _ = try ada.notebook.save()
    try ben.write("Note.txt", "ben\n")
    _ = try ben.notebook.save()
    try ada.receive(from: ben)
    let inConflict = try ada.notebook.repository.commit(
      try #require(try ada.notebook.state().tip))
    _ = try ada.notebook.resolve("Note.txt", keeping: .both)
    #expect(try ada.notebook.history.conflicts().isEmpty)
    _ = try ada.notebook.restore("Note.txt", from: inConflict)
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Note.txt"])
  }
}

/// What can't be written is known before anything changes: no command leaves a checkout half done.
@Suite struct CheckoutAccessTests {
  @Test func `Something that is no file is in the way, and the notebook goes on`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "x\n")
    _ = try home.notebook.save()
    try #require(mkfifo(home.path + "/Pipe.txt", 0o600) == 0)
    try #require(symlink("/tmp", home.path + "/link") == 0)
    let ben = try home.clone(device: "Ben")
    for name in ["Pipe.txt", "link/Note.txt"] {
      try ben.write(name, "ben\n")
      _ = try ben.notebook.save()
      try home.receive(from: ben)
      #expect(try home.notebook.workTree.sparseFiles() == [TreePath(name)])
      #expect(try !home.notebook.status().isInterrupted)
      _ = try ben.notebook.undo()
    }
    try home.write("Note.txt", "goes on\n")
    #expect(try home.notebook.save().version != nil)
    // What was in the way is gone from the other's present state, too.
    try home.receive(from: ben)
  }

  @Test func `A folder and a file may change places in one version`() throws {
    let home = try Fixture()
    try home.write("a.txt", "file\n")
    try home.write("b.txt/Note.txt", "in folder\n")
    _ = try home.notebook.save()
    let ben = try home.clone(device: "Ben")
    try ben.remove("a.txt")
    try ben.remove("b.txt")
    try ben.write("a.txt/c/Note.txt", "in folder\n")
    try ben.write("b.txt", "file\n")
    _ = try ben.notebook.save()
    try home.receive(from: ben)
    #expect(try home.read("a.txt/c/Note.txt") == "in folder\n")
    #expect(try home.read("b.txt") == "file\n")
    _ = try home.notebook.undo()
    #expect(try home.read("a.txt") == "file\n")
    #expect(try home.read("b.txt/Note.txt") == "in folder\n")
  }
}
