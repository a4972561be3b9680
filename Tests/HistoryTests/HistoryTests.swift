import Git
import NotebookSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

@Suite("Names, history, restoring")
struct HistoryTests {
  /// Three versions of Groceries a day apart, one of Rome in between.
  func story() throws -> (home: Fixture, versions: [ObjectID]) {
    let home = try Fixture()
    var versions: [ObjectID] = []
    let day: Int64 = 86_400
    for (text, name) in [
      ("milk\n", "Groceries.txt"), ("forum\n", "trips/Rome.md"), ("milk\nbread\n", "Groceries.txt"),
      ("bread\n", "Groceries.txt"),
    ] {
      try home.write(name, text)
      versions.append(try #require(try home.notebook.save().version))
      home.seconds.now += day
    }
    return (home, versions)
  }

  @Test("a note answers to its path, its title, in any case, and to a part that no other has")
  func noteNames() throws {
    let (home, _) = try story()
    for name in ["trips/Rome.md", "trips/Rome", "Rome", "rome", "rom", "TRIPS"] {
      #expect(try home.notebook.history.note(named: name) == "trips/Rome.md")
    }
    try home.write("Romeo.txt", "x")
    #expect(try home.notebook.history.note(named: "rome") == "trips/Rome.md")
    #expect(throws: HistoryError.self) { try home.notebook.history.note(named: "ome") }
    #expect(throws: WorkTreeError.self) { try home.notebook.history.note(named: "Paris") }
  }

  @Test("a version answers to an ID prefix, to ~N, and to a date")
  func versionNames() throws {
    let (home, versions) = try story()
    let notebook = home.notebook
    let groceries: TreePath = "Groceries.txt"
    #expect(
      try notebook.history.version(named: String(versions[1].hex.prefix(8))).id == versions[1])
    #expect(try notebook.history.version(named: "~0", of: groceries).id == versions[3])
    #expect(try notebook.history.version(named: "~1", of: groceries).id == versions[2])
    #expect(try notebook.history.version(named: "~2", of: groceries).id == versions[0])
    #expect(throws: HistoryError.self) { try notebook.history.version(named: "~3", of: groceries) }
    #expect(throws: HistoryError.self) { try notebook.history.version(named: "~x") }
    #expect(throws: HistoryError.self) { try notebook.history.version(named: "1999-01-01") }
    // 1,700,000,000 is 2023-11-14 in every zone.
    #expect(try notebook.history.version(named: "2023-11-14").id == versions[0])
    #expect(try notebook.history.version(named: "2099-01-01 10:00").id == versions[3])
    #expect(throws: HistoryError.self) { try notebook.history.version(named: "2099-13-01") }
  }

  @Test("a version of a note has the name and the bytes it had then")
  func versionOfRenamedNote() throws {
    let (home, versions) = try story()
    try home.remove("Groceries.txt")
    try home.write("Shopping.txt", "bread\n")
    _ = try home.notebook.save()
    for name in ["~3", "2023-11-14", String(versions[0].hex.prefix(7))] {
      let found = try home.notebook.history.noteVersion(named: name, of: "Shopping.txt")
      #expect(found.commit.id == versions[0] && found.path == "Groceries.txt")
      #expect(try home.notebook.history.text(of: found) == Array("milk\n".utf8))
    }
    // The note is in versions that did not change it, too.
    let between = try home.notebook.history.noteVersion(named: versions[1].hex, of: "Shopping.txt")
    #expect(try home.notebook.history.text(of: between) == Array("milk\n".utf8))
    #expect(throws: HistoryError.self) {
      try home.notebook.history.noteVersion(named: versions[0].hex, of: "trips/Rome.md")
    }
  }

  @Test("the log of a note follows it through a rename")
  func renames() throws {
    let (home, versions) = try story()
    try home.remove("Groceries.txt")
    try home.write("Shopping.txt", "bread\n")
    let renamed = try #require(try home.notebook.save().version)
    var seen: [(ObjectID, ChangeKind)] = []
    try home.notebook.history.forEachVersion(of: "Shopping.txt") { version in
      seen.append((version.commit.id, version.changes[0].kind))
      return true
    }
    #expect(seen.map(\.0) == [renamed, versions[3], versions[2], versions[0]])
    #expect(seen.map(\.1) == [.renamed, .modified, .modified, .added])
  }

  @Test("a note keeps its ID through edits and renames, and has its first and last times")
  func list() throws {
    let (home, _) = try story()
    let before = try #require(try home.notebook.history.notes().first { $0.title == "Groceries" })
    #expect(before.created == 1_700_000_000)
    #expect(before.modified == Int64(1_700_259_200))
    try home.remove("Groceries.txt")
    try home.write("Shopping.txt", "bread\n")
    _ = try home.notebook.save()
    try home.write("unsaved.txt", "x")
    let after = try home.notebook.history.notes()
    #expect(after.map(\.title) == ["Shopping", "Rome", "unsaved"])
    #expect(after.first { $0.title == "Shopping" }?.id == before.id)
    #expect(after.first { $0.title == "unsaved" }?.created == nil)
  }

  @Test("a restore versions the present text first and is a new version itself")
  func restore() throws {
    let (home, versions) = try story()
    try home.write("Groceries.txt", "not saved yet\n")
    let first = try home.notebook.repository.commit(versions[0])
    let made = try #require(try home.notebook.restore("Groceries.txt", from: first))
    #expect(try home.read("Groceries.txt") == "milk\n")
    #expect(try home.notebook.state().tip == made)
    let before = try home.notebook.history.version(named: "~1", of: "Groceries.txt")
    #expect(
      try home.notebook.history.text(of: "Groceries.txt", at: before)
        == Array("not saved yet\n".utf8))
    #expect(try home.notebook.restore("Groceries.txt", from: first) == nil)
    _ = try home.notebook.restore("Groceries.txt", from: before, as: "Old groceries.txt")
    #expect(try home.read("Old groceries.txt") == "not saved yet\n")
    #expect(throws: HistoryError.self) {
      try home.notebook.restore("trips/Rome.md", from: first)
    }
  }

  @Test("a deleted note is found again in history")
  func deleted() throws {
    let (home, versions) = try story()
    try home.remove("trips")
    _ = try home.notebook.save()
    #expect(throws: WorkTreeError.self) { try home.notebook.history.note(named: "Rome") }
    let path = try home.notebook.history.note(named: "Rome", among: .deleted)
    _ = try home.notebook.restore(path, from: home.notebook.repository.commit(versions[1]))
    #expect(try home.read("trips/Rome.md") == "forum\n")
  }

  @Test("the log counts lines added and removed")
  func lineDiff() {
    let old = Array("a\nb\nc\nd\ne\nf\ng\nh\ni\n".utf8)
    let new = Array("a\nB\nc\nd\ne\nf\ng\nh\ni\nj".utf8)
    let diff = LineDiff(from: old, to: new)
    #expect(diff.added == 2 && diff.removed == 1)
    #expect(diff.hunks.map(\.old) == [0..<5, 6..<9])
    #expect(diff.hunks.map(\.new) == [0..<5, 6..<10])
    #expect(diff.hunks[1].lines.last?.hasNewline == false)
    #expect(LineDiff(from: old, to: new, context: 4).hunks.count == 1)
    #expect(LineDiff(from: old, to: old).hunks.isEmpty)
    #expect(LineDiff(from: [0], to: old).isBinary)
    #expect(LineDiff(from: [], to: old).hunks.first?.old == 0..<0)
  }
}

@Suite("Differences by words: notes-diff(1)")
struct WordDiffTests {
  private func shown(_ old: String, _ new: String) -> [String] {
    WordDiff(from: Array(old.utf8), to: Array(new.utf8)).groups.flatMap(\.rows).map { row in
      row.pieces.map { piece in
        let text = String(decoding: piece.bytes, as: UTF8.self)
        return piece.kind == .same ? text : piece.kind == .removed ? "[-\(text)-]" : "{+\(text)+}"
      }.joined()
    }
  }

  @Test("words are told apart, pictures stay whole, scripts without spaces go by characters")
  func words() {
    #expect(shown("a quick fox ran\n", "a slow fox ran\n") == ["a [-quick-]{+slow+} fox ran"])
    #expect(
      shown("one family 👨‍👩‍👧‍👦 here\n", "one family 👨‍👩‍👧 here\n")
        == ["one family [-👨‍👩‍👧‍👦-]{+👨‍👩‍👧+} here"])
    #expect(shown("とても長い行です\n", "とても短い行です\n") == ["とても[-長-]{+短+}い行です"])
    #expect(shown("gone\n", "something else\n") == ["[-gone-]", "{+something else+}"])
    #expect(shown("no newline", "no newline\n") == ["[-no newline-]", "{+no newline+}"])
    #expect(shown("", "new\n") == ["{+new+}"] && shown("same\n", "same\n").isEmpty)
  }

  @Test("lines that were broken anew are one text; lines keep their order")
  func lines() {
    let broken = shown("one two three four five six\n", "one two three\nfour five six seven\n")
    #expect(broken.joined(separator: "\n").contains("{+seven+}") || broken.count == 2)
    #expect(
      shown("alpha beta gamma\ndelta epsilon zeta\n", "alpha beta GAMMA\nnew\ndelta epsilon ZETA\n")
        == ["alpha beta [-gamma-]{+GAMMA+}", "{+new+}", "delta epsilon [-zeta-]{+ZETA+}"])
  }
}
