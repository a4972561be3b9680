import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "The stale editor", with the editors themselves: each has the note open while a sync
/// replaces it, types, saves, and saves again.
@Suite("Editors that have a note open while a sync replaces it", .serialized)
struct EditorTests {
  let home: Fixture
  let other: Fixture
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    home = try Fixture()
    try home.write("n.txt", "one\ntwo\nthree\nfour\n")
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  /// The other device changes a line and appends one.
  func syncMeanwhile(_ text: String) throws {
    try other.write("n.txt", text)
    _ = try other.notebook.save()
    try home.receive(from: other)
  }

  /// The note, read without a trace.
  private var text: String {
    get throws { String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self) }
  }

  @Test(arguments: RealEditor.played)
  func `Saves without a look at what came lose nothing`(editor: RealEditor) throws {
    try EditorStory.attempts { try EditorTests().play(editor) }
  }

  private func play(_ editor: RealEditor) throws {
    try EditorStory(in: home.path, home: folder["home"]) {
      // Without a watcher only the access time tells, which goes with the file.
      !$0.replaces
    } receive: {
      try syncMeanwhile($0)
    } settle: { _ in
      _ = try home.notebook.save()
      let again = try home.notebook.save()
      guard again.version == nil else {
        throw EditorStory.Broken(description: "a save after a save makes a version")
      }
    }.play(editor)
  }

  @Test(arguments: ["sed -i s/three/THREE/ n.txt", "echo appended >> n.txt"])
  func `Programs that write what came are taken at their word`(command: String) throws {
    try syncMeanwhile("one\nTWO by Bob\nthree\nfour\nfive by Bob\n")
    #expect(try run(["sh", "-c", command], in: home.path).isSuccess)
    let written = try text
    let saved = try home.notebook.save()
    #expect(saved.news.isEmpty)
    #expect(try text == written)
    #expect(written.contains("TWO by Bob") && written.contains("five by Bob"))
  }

  @Test("one that loads once and writes in place")
  func inPlace() throws {
    let loaded = try #require(try home.read("n.txt"))
    try syncMeanwhile("one\nTWO by Bob\nthree\nfour\n")
    let descriptor = open(home.path + "/n.txt", O_WRONLY | O_TRUNC | O_CLOEXEC)
    let text = loaded + "from the editor\n"
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.unread])
    #expect(saved.news.map(\.devices) == [["Bob"]])
    #expect(try home.read("n.txt") == "one\nTWO by Bob\nthree\nfour\nfrom the editor\n")
    #expect(try home.notebook.save().version == nil)
  }
}
