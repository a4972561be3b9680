import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Notes that are left out of the folder": a note that cannot be replaced, made, removed or
/// read waits, and the others go on.
@Suite("A note that cannot come to its place", .serialized)
struct HeldNotesTests {
  private let home: Fixture
  private let bob: Fixture

  init() throws {
    home = try Fixture()
    for name in ["n.txt", "deep/n.txt", "other.txt"] { try home.write(name, "old\n") }
    _ = try home.notebook.save()
    bob = try home.clone(device: "Bob")
  }

  /// What keeps a file as it is.
  enum Kind: CaseIterable {
    case immutableFile, immutableFolder, readOnlyMount

    func begin(_ path: String) throws {
      switch self {
      case .immutableFile: try Kind.call("chattr", "+i", path + "/deep/n.txt")
      case .immutableFolder: try Kind.call("chattr", "+i", path + "/deep")
      case .readOnlyMount:
        try Kind.call("mount", "--bind", path + "/deep", path + "/deep")
        try Kind.call("mount", "-o", "remount,ro,bind", path + "/deep")
      }
    }

    func end(_ path: String) {
      switch self {
      case .immutableFile: try? Kind.call("chattr", "-i", path + "/deep/n.txt")
      case .immutableFolder: try? Kind.call("chattr", "-i", path + "/deep")
      case .readOnlyMount: try? Kind.call("umount", path + "/deep")
      }
    }

    private static func call(_ words: String...) throws {
      let result = try run(words)
      guard result.isSuccess else { throw SystemError(result.errorText, words[0]) }
    }
  }

  private func contents(_ fixture: Fixture) throws -> [String] {
    try fixture.notebook.repository.files(
      in: fixture.notebook.repository.commit(#require(try fixture.notebook.state().tip)).tree
    ).map { "\($0.path) \($0.entry.id)" }
  }

  @Test(
    "a change of it waits, the rest goes on, and it comes when it can",
    .enabled(if: geteuid() == 0), arguments: Kind.allCases)
  func changed(_ kind: Kind) throws {
    try kind.begin(bob.path)
    defer { kind.end(bob.path) }
    for round in 1...2 {
      for name in ["deep/n.txt", "other.txt"] { try home.write(name, "new \(round)\n") }
      _ = try home.notebook.save()
      try bob.receive(from: home)
      #expect(try bob.read("deep/n.txt") == "old\n")
      #expect(try bob.read("other.txt") == "new \(round)\n")
      let absent = try bob.notebook.workTree.absentFiles()
      #expect(absent.map(\.path) == ["deep/n.txt"])
      guard case .obstructed(let obstacle) = try #require(absent.first).reason else {
        Issue.record("\(absent)")
        return
      }
      #expect(obstacle.kind == .refused && obstacle.errno != nil)
    }
    // It is no edit, and what is written meanwhile is saved.
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.notebook.status().changes.isEmpty)
    try bob.write("n.txt", "mine\n")
    #expect(try bob.notebook.save().changes == [Change(path: "n.txt", kind: .modified)])
    _ = try bob.notebook.undo()
    kind.end(bob.path)
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.read("deep/n.txt") == "new 2\n")
    #expect(try bob.notebook.workTree.absentFiles() == [])
    #expect(try bob.git(["status", "--short"]) == "")
    try home.receive(from: bob)
    #expect(try contents(home) == contents(bob))
  }

  @Test("a deletion waits, too", .enabled(if: geteuid() == 0), arguments: Kind.allCases)
  func deleted(_ kind: Kind) throws {
    try kind.begin(bob.path)
    defer { kind.end(bob.path) }
    try home.remove("deep/n.txt")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try bob.read("deep/n.txt") == "old\n")
    let saved = try bob.notebook.save()
    #expect(saved.version == nil)
    let reason = try #require(saved.skipped.first { $0.path == "deep/n.txt" }).reason
    guard case .deletedElsewhere = reason else {
      Issue.record("\(reason)")
      return
    }
    kind.end(bob.path)
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.read("deep/n.txt") == nil)
    #expect(try contents(home) == contents(bob))
  }

  @Test("new notes of such a folder wait", .enabled(if: geteuid() == 0))
  func added() throws {
    try Kind.immutableFolder.begin(bob.path)
    defer { Kind.immutableFolder.end(bob.path) }
    for name in ["deep/new.txt", "deep/er/new.txt", "top.txt"] { try home.write(name, "new\n") }
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try bob.read("top.txt") == "new\n")
    #expect(
      try bob.notebook.workTree.absentFiles().map(\.path) == ["deep/er/new.txt", "deep/new.txt"])
    #expect(try bob.notebook.save().version == nil)
    Kind.immutableFolder.end(bob.path)
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.read("deep/er/new.txt") == "new\n")
    #expect(try bob.read("deep/new.txt") == "new\n")
  }

  @Test("an edit of the older text is one of that text", .enabled(if: geteuid() == 0))
  func edited() throws {
    let long = (1...9).map { "line \($0)\n" }.joined()
    try home.write("deep/n.txt", long)
    _ = try home.notebook.save()
    try bob.receive(from: home)
    try Kind.immutableFolder.begin(bob.path)
    defer { Kind.immutableFolder.end(bob.path) }
    try home.write("deep/n.txt", "first\n" + long)
    _ = try home.notebook.save()
    try bob.receive(from: home)
    // In place: the folder takes no other file.
    try bob.write("deep/n.txt", long + "last\n")
    #expect(try bob.notebook.save().changes == [Change(path: "deep/n.txt", kind: .modified)])
    let tip = try #require(try bob.notebook.state().tip)
    let repository = bob.notebook.repository
    let entry = try repository.entry(at: "deep/n.txt", in: repository.commit(tip).tree)
    let merged = "first\n" + long + "last\n"
    #expect(try repository.blob(#require(entry).id) == Array(merged.utf8))
    #expect(try bob.notebook.save().version == nil)
    Kind.immutableFolder.end(bob.path)
    _ = try bob.notebook.save()
    #expect(try bob.read("deep/n.txt") == merged)
  }

  @Test("what the others take back again leaves nothing waiting", .enabled(if: geteuid() == 0))
  func takenBack() throws {
    try Kind.immutableFile.begin(bob.path)
    defer { Kind.immutableFile.end(bob.path) }
    for text in ["new\n", "old\n"] {
      try home.write("deep/n.txt", text)
      _ = try home.notebook.save()
      try bob.receive(from: home)
    }
    #expect(try bob.notebook.workTree.absentFiles() == [])
    try bob.write("other.txt", "mine\n")
    #expect(try bob.notebook.autosave(.only(["other.txt"]))?.version != nil)
    try home.receive(from: bob)
    #expect(try home.read("deep/n.txt") == "old\n")
  }
}
