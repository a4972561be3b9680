import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "The stale editor": every command that writes saves what the folder holds first, by the same
/// rule, and writes on what came of it.
@Suite("Commands that write while an editor holds an older text")
struct WritersTests {
  struct Writer: Sendable, CustomTestStringConvertible {
    let name: String
    /// The lines that the note has in addition.
    var lines: [String] = []
    var note = "n.txt"
    let run: @Sendable (Fixture) throws -> Void
    var testDescription: String { name }
  }

  static let writers: [Writer] = [
    Writer(name: "save") { _ = try $0.notebook.save() },
    Writer(name: "save of the note") { _ = try $0.notebook.save(only: ["n.txt"]) },
    Writer(name: "add", lines: ["added"]) {
      _ = try $0.notebook.append(Array("added\n".utf8), to: "n.txt")
    },
    Writer(name: "new") { _ = try $0.notebook.create("new.txt", text: Array("new\n".utf8)) },
    Writer(name: "mv", note: "m.txt") { _ = try $0.notebook.rename("n.txt", to: "m.txt") },
    Writer(name: "mv of a folder", note: "n.txt") {
      _ = try $0.notebook.rename(folder: "f", to: "g")
    },
    Writer(name: "rm of another note") { _ = try $0.notebook.delete(["other.txt"]) },
    Writer(name: "restore of another note") {
      let former = try $0.notebook.history.version(named: "~1", of: "other.txt")
      _ = try $0.notebook.restore("other.txt", from: former)
    },
    Writer(name: "import") { home in
      let folder = try TemporaryFolder()
      try folder.write("imported\n", to: "imported.txt")
      _ = try home.notebook.importFiles(from: folder.path)
    },
    Writer(name: "undo and redo") {
      _ = try $0.notebook.save()
      _ = try $0.notebook.undo()
      _ = try $0.notebook.redo()
    },
    Writer(name: "a sync") { home in
      let other = try home.clone(device: "Cleo")
      try other.write("cleo.txt", "Cleo\n")
      _ = try other.notebook.save()
      try home.receive(from: other)
    },
  ]

  static let loaded = "one\ntwo\nthree\nfour\nfive\n"

  /// The other device's edit has come, and the editor, which has not read it, has saved.
  private func staleSave() throws -> (home: Fixture, other: Fixture) {
    let home = try Fixture()
    try home.write("n.txt", Self.loaded)
    try home.write("f/inner.txt", "inner\n")
    for text in ["other, before\n", "other\n"] {
      try home.write("other.txt", text)
      _ = try home.notebook.save()
    }
    let other = try home.clone(device: "Bob")
    try other.write("n.txt", Self.loaded.replacing("two", with: "TWO by Bob") + "six by Bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    try home.write("n.txt", Self.loaded.replacing("four", with: "FOUR by Ada"))
    return (home, other)
  }

  @Test(arguments: writers) func `takes nothing back`(writer: Writer) throws {
    let (home, other) = try staleSave()
    var news: [SaveNews] = []
    home.notebook.saveNotice = { news.append($0) }
    try writer.run(home)
    let path = TreePath(writer.note)
    let text = String(decoding: try home.notebook.workTree.text(of: path), as: UTF8.self)
    for line in ["TWO by Bob", "six by Bob", "FOUR by Ada"] + writer.lines {
      #expect(text.contains(line + "\n"), "\(line) in:\n\(text)")
    }
    #expect(!text.contains("<<<<") && !text.contains("\ntwo\n"), "\(text)")
    // Whatever path the save took, it is told once.
    #expect(news.map(\.kind) == [.merged])
    #expect(news.map(\.devices) == [["Bob"]])
    let versions = try home.notebook.history.versions(of: path)
    var isMarked = false
    while let version = try versions.next() { isMarked = isMarked || version.editedOn != nil }
    #expect(isMarked)
    try other.receive(from: home)
    #expect(try other.read(writer.note) == text)
  }

  /// "a save … that removes lines which arrived from another device within the last day": also by its name.
  @Test func `restore tells what it takes away`() throws {
    let home = try Fixture()
    try home.write("n.txt", Self.loaded)
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    let before = try home.notebook.history.version(named: "~0", of: "n.txt")
    try other.write("n.txt", Self.loaded + "six by Bob\nseven by Bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    var news: [SaveNews] = []
    home.notebook.saveNotice = { news.append($0) }
    _ = try home.notebook.restore("n.txt", from: before)
    #expect(news == [SaveNews(path: "n.txt", kind: .tookAway, lines: 2, devices: ["Bob"])])
    _ = try home.notebook.undo()
    #expect(try home.read("n.txt") == Self.loaded + "six by Bob\nseven by Bob\n")
  }

  /// A text that was made of a version that is not the note's present one any more, as a page sends it.
  @Test func `A text on an older version is merged, told and marked`() throws {
    let home = try Fixture()
    try home.write("n.txt", Self.loaded)
    _ = try home.notebook.save()
    let shown = try home.notebook.shownText(of: "n.txt")
    let other = try home.clone(device: "Bob")
    try other.write("n.txt", Self.loaded + "six by Bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    var news: [SaveNews] = []
    home.notebook.saveNotice = { news.append($0) }
    let mine = Self.loaded.replacing("two", with: "TWO by Ada")
    let version = try home.notebook.save(
      Array(mine.utf8), of: "n.txt", shown: shown.blob, on: shown.version)
    #expect(try home.read("n.txt") == mine + "six by Bob\n")
    #expect(news == [SaveNews(path: "n.txt", kind: .merged, lines: 0, devices: ["Bob"])])
    let made = try home.notebook.repository.commit(#require(version))
    #expect(EditedOnTrailer.base(in: made.message) == shown.version)
  }

  @Test func `A conflict settled on an older version keeps what came since`() throws {
    let home = try Fixture()
    try home.write("n.txt", Self.loaded)
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    for (device, word) in [(home, "by Ada"), (other, "by Bob")] {
      try device.write("n.txt", Self.loaded.replacing("two", with: word))
      _ = try device.notebook.save()
    }
    try home.receive(from: other)
    let note = try home.notebook.conflictedNote(at: "n.txt")
    // What the person settles is on the screen while this comes.
    try other.receive(from: home)
    try other.write("n.txt", #require(try other.read("n.txt")) + "six by Bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    var news: [SaveNews] = []
    home.notebook.saveNotice = { news.append($0) }
    _ = try home.notebook.settle(note, as: Array(Self.loaded.replacing("two", with: "both").utf8))
    #expect(try home.read("n.txt") == Self.loaded.replacing("two", with: "both") + "six by Bob\n")
    #expect(news.map(\.kind) == [.merged])
  }

  /// Between the last look at the folder and the moment in which a merge writes.
  @Test func `A save that meets a merge is made on what its writer had`() throws {
    let home = try Fixture()
    for note in ["m.txt", "n.txt"] { try home.write(note, Self.loaded) }
    _ = try home.notebook.save()
    let other = try home.clone(device: "Bob")
    for note in ["m.txt", "n.txt"] {
      try other.write(note, #require(try other.read(note)) + "six by Bob\n")
    }
    _ = try other.notebook.save()
    try home.receive(from: other)
    try other.write("n.txt", #require(try other.read("n.txt")) + "seven by Bob\n")
    _ = try other.notebook.save()
    try home.copyObjects(from: other)
    let mine = Self.loaded.replacing("two", with: "TWO by Ada")
    for note in ["m.txt", "n.txt"] { try home.write(note, mine) }
    var news: [SaveNews] = []
    home.notebook.saveNotice = { news.append($0) }
    // The folder counts as looked at.
    _ = try home.notebook.merge(
      other.notebook.state().heads, options: MergeOptions(scope: .only([])))
    #expect(try home.read("n.txt") == mine + "six by Bob\nseven by Bob\n")
    #expect(try home.read("m.txt") == mine + "six by Bob\n")
    #expect(Set(news.map(\.path)) == ["m.txt", "n.txt"])
    #expect(news.allSatisfy { $0.kind == .merged && $0.devices == ["Bob"] })
    // "~0 is always the note as the last version has it": here the merge.
    let history = home.notebook.history
    #expect(
      try history.text(of: history.noteVersion(named: "~0", of: "n.txt"))
        == Array(#require(try home.read("n.txt")).utf8))
    #expect(try history.version(named: "~1", of: "n.txt").message.contains("Edited-On"))
  }
}
