import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-protocol(7), PACKS: "A device's own versions are within the same limits of bytes, names, paths and
/// counts". Each way into the history, with each path that devices refuse.
@Suite struct UnfitPathTests {
  static let deep = String(repeating: "d/", count: 64) + "x.txt"
  static let long = String(repeating: String(repeating: "l", count: 200) + "/", count: 21) + "x.txt"

  static let paths = [
    "line\nbreak.txt", "line\nbreak/x.txt", "tab\t.txt", "esc\u{1b}[2J.txt", "del\u{7f}.txt",
    "c1\u{85}.txt", "in/git~1", "GIT~1 .", "git~1::$INDEX_ALLOCATION", "a\\.git\\b.txt", deep,
  ]
  /// Those that no file system has.
  static let impossible = ["in/.GIT/x.txt", String(repeating: "n", count: 256), long]

  private let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("fine.txt", "fine\n")
    try home.write("f/inner.txt", "inner\n")
    _ = try home.notebook.save()
  }

  /// Another device takes the whole history.
  private func checkIsAccepted(location: SourceLocation = #_sourceLocation) throws {
    let heads = try home.notebook.state().heads
    let other = try Fixture(device: "Bob")
    defer { withExtendedLifetime(other) {} }
    let quarantine = try other.notebook.repository.quarantine()
    let pack = try home.notebook.repository.pack(wants: heads, haves: [])
    while let piece = try pack.next() { try quarantine.append(piece) }
    #expect(throws: Never.self, sourceLocation: location) { try quarantine.join(promised: heads) }
    #expect(try home.notebook.status().changes.isEmpty, sourceLocation: location)
  }

  @Test(arguments: paths) func `An import names the file, and takes the others`(path: String) throws
  {
    let source = try TemporaryFolder()
    try source.write("text\n", to: path)
    try source.write("other\n", to: "other.txt")
    let trial = try home.notebook.importFiles(from: source.path, trial: true)
    let imported = try home.notebook.importFiles(from: source.path)
    #expect(trial.added == ["other.txt"] && imported.added == ["other.txt"])
    #expect(imported.skipped.map(\.path) == [TreePath(path)], "\(imported.skipped)")
    guard case .unfitName = imported.skipped.first?.reason else {
      Issue.record("\(imported.skipped)")
      return
    }
    #expect(try home.read("other.txt") == "other\n" && home.read(path) == nil)
    try checkIsAccepted()
  }

  // The folder that they go to counts.
  @Test func `An import measures paths as they are in the notebook`() throws {
    let source = try TemporaryFolder()
    let names = [40, 39].map { String(repeating: "d/", count: $0) + "x.txt" }
    for name in names { try source.write("text\n", to: name) }
    let target = TreePath((0..<24).map { "t\($0)" }.joined(separator: "/"))
    let imported = try home.notebook.importFiles(from: source.path, into: target)
    #expect(imported.skipped.map(\.path) == [TreePath(names[0])])
    #expect(imported.added == [target.appending(TreePath(names[1]))])
    try checkIsAccepted()
  }

  @Test(arguments: paths) func `A save names the file, and takes the others`(path: String) throws {
    try home.write(path, "text\n")
    try home.write("other.txt", "other\n")
    for scope in [SaveScope.only([TreePath(path)]), .everything] {
      let saved = try #require(try home.notebook.autosave(scope))
      #expect(saved.skipped.map(\.path) == [TreePath(path)])
    }
    #expect(try home.notebook.save(only: [TreePath(path)]).version == nil)
    #expect(try home.read(path) == "text\n")
    try checkIsAccepted()
  }

  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let go: @Sendable (Notebook, TreePath) throws -> Void

    init(_ name: String, _ go: @escaping @Sendable (Notebook, TreePath) throws -> Void) {
      (testDescription, self.go) = (name, go)
    }
  }

  static let ways = [
    Way("new") { _ = try $0.create($1, text: Array("text\n".utf8)) },
    Way("mv") { _ = try $0.rename("fine.txt", to: $1) },
    Way("mv of a folder") { _ = try $0.rename(folder: "f", to: $1) },
    Way("restore --as") {
      let version = try $0.history.version(named: "~0", of: "fine.txt")
      _ = try $0.restore("fine.txt", from: version, as: $1)
    },
    Way("a title") { _ = try $0.create($0.path(titled: $1.description), text: []) },
    Way("the folder of a title") {
      _ = try $0.create($0.path(titled: "x", in: $1), text: [])
    },
  ]

  @Test(arguments: ways, paths + impossible)
  func `What names one file is refused`(way: Way, path: String) throws {
    let before = try home.notebook.state().tip
    #expect {
      try way.go(home.notebook, TreePath(path))
    } throws: {
      switch $0 {
      case NotebookError.unfitPath, NotebookError.unfitTitle: true
      default: false
      }
    }
    #expect(try home.notebook.state().tip == before)
    #expect(try home.read("fine.txt") == "fine\n" && home.read("f/inner.txt") == "inner\n")
    try checkIsAccepted()
  }

  // notes-restore(1): "The command does not restore files that no other device would accept … and names them"
  @Test func `What a commit of git's had does not come back by a restore or an undo`() throws {
    try #require(symlink("../fine.txt", home.path + "/f/link.txt") == 0)
    try home.write("f/line\nbreak.txt", "text\n")
    _ = try home.git(["add", "-A"])
    _ = try home.git(["commit", "-q", "-m", "by hand"])
    let made = try #require(try home.notebook.state().tip)
    #expect(
      try home.notebook.status().skipped == [
        SkippedFile(path: "f/link.txt", reason: .symbolicLink)
      ])
    try home.write("other.txt", "other\n")
    _ = try home.notebook.save()
    _ = try home.notebook.rewritePortably()
    let version = try home.notebook.repository.commit(made)
    let unfit: [TreePath] = ["f/line\nbreak.txt", "f/link.txt"]
    let folders: [TreePath?] = [nil, "f"]
    for folder in folders {
      let trial = try home.notebook.restore(folder: folder, from: version, label: "x", trial: true)
      let done = try home.notebook.restore(folder: folder, from: version, label: "x")
      #expect(trial.excluded.map(\.path) == unfit && done.excluded.map(\.path) == unfit)
      #expect(done.changes.map(\.path) == (folder == nil ? ["other.txt"] : []))
    }
    try checkIsAccepted()
    // The operations are those from before the commit was made anew.
    for count in [1, 2, 3] {
      do { _ = try home.notebook.undo(.last(count)) } catch NotebookError.nothingToUndo {}
    }
    try checkIsAccepted()
  }
}
