import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "The stale editor": "An editor may have a note open that a checkout removes, because
/// it was renamed or deleted. The editor makes the file again when it saves."
@Suite("An editor that has a note open which others renamed or deleted")
struct GoneNoteTests {
  let home: Fixture
  let other: Fixture
  let loaded = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

  init() throws {
    home = try Fixture()
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  private func rename(to name: String = "m.txt", _ text: String? = nil) throws {
    try other.write(name, text ?? loaded)
    try other.remove("n.txt")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try home.read("n.txt") == nil)
  }

  /// A swap file as vim and nano have it, of this process.
  private func lock() throws {
    let number = withUnsafeBytes(of: getpid().littleEndian, Array.init)
    try writeFile(
      home.path + "/.n.txt.swp", Array("b0".utf8) + [UInt8](repeating: 0, count: 22) + number)
  }

  @Test func `Its edit goes where the note is now`() throws {
    try rename(to: "m.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    try home.write("n.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.lines])
    #expect(saved.news.map(\.kind) == [.merged])
    #expect(saved.news.map(\.devices) == [["Bob"]])
    #expect(saved.news.map(\.path) == ["m.txt"])
    #expect(try home.read("n.txt") == nil)
    #expect(try home.read("m.txt") == "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    #expect(try home.notebook.status().changes.isEmpty)
    try other.receive(from: home)
    #expect(try other.read("m.txt") == "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
  }

  @Test func `So does what it writes after that`() throws {
    try rename()
    try home.write("n.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    _ = try home.notebook.save()
    try home.write("n.txt", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == nil)
    #expect(try home.read("m.txt") == "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\n")
    // "... or an editor had saved that text there after the note had gone": `:w`, and then `:wq`.
    try home.write("n.txt", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == nil)
    #expect(try home.read("m.txt") == "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\n")
  }

  @Test func `A save of a deleted note brings it back with its history`() throws {
    try other.remove("n.txt")
    _ = try other.notebook.save()
    try home.receive(from: other)
    let text = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"
    try home.write("n.txt", text)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == text)
    #expect(try home.notebook.status().changes.isEmpty)
    try other.receive(from: home)
    #expect(try other.read("n.txt") == text)
    #expect(try other.notebook.state().tip == home.notebook.state().tip)
  }

  /// "A file with exactly the text of the note is a new note."
  @Test func `A copy under the former name stays`() throws {
    try rename()
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == loaded)
    #expect(try home.read("m.txt") == loaded)
  }

  @Test func `Where its editor's lock file is there, the same text is a save as well`() throws {
    try lock()
    try rename()
    try home.write("n.txt", loaded)
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.lock])
    #expect(try home.read("n.txt") == nil)
    #expect(try home.read("m.txt") == loaded)
    // Any part of the text tells then, and at any time.
    home.seconds.now += 86_400
    try home.write("n.txt", "one\nand all else anew\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == nil)
    #expect(try home.read("m.txt")?.contains("and all else anew") == true)
  }

  @Test func `A note that was deleted can be put back while its editor is open`() throws {
    try lock()
    try other.remove("n.txt")
    _ = try other.notebook.save()
    try home.receive(from: other)
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == loaded)
  }

  @Test func `A new note of the name that has little of the text is a new note`() throws {
    try rename()
    try home.write("n.txt", "one\ntwo\nthree\nof another kind\n")
    let saved = try home.notebook.save()
    #expect(saved.remarks.isEmpty)
    #expect(try home.read("n.txt") == "one\ntwo\nthree\nof another kind\n")
    #expect(try home.read("m.txt") == loaded)
  }

  @Test func `A note that is moved back is moved back`() throws {
    try lock()
    try rename()
    try home.remove("m.txt")
    try home.write("n.txt", loaded)
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == loaded)
    #expect(try home.read("m.txt") == nil)
  }

  @Test func `A note that others gave the name is edited as any`() throws {
    try rename()
    let fresh = "a\nb\nc\nd\n"
    try other.write("n.txt", fresh)
    _ = try other.notebook.save()
    try home.receive(from: other)
    try home.write("n.txt", fresh + "e\n")
    #expect(try home.notebook.save().remarks.isEmpty)
    #expect(try home.read("n.txt") == fresh + "e\n")
  }
}
