import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Foreign commits": "A version may also exceed the limits of other devices".
@Suite("Versions that are too large, in a notebook that holds them already")
struct PruningTests {
  let home: Fixture
  /// The version in question, which the tip was made on.
  let bomb: ObjectID

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "one\n")
    _ = try home.notebook.save()
    bomb = try Self.plant(in: home)
    try home.write("a.txt", "two\n")
    _ = try home.notebook.save()
  }

  /// Puts a version of 2^41 files between the tip and another one with the tip's tree, as a hostile
  /// member may have done.
  private static func plant(in home: Fixture) throws -> ObjectID {
    let repository = home.notebook.repository
    let tip = try #require(try repository.head().commit)
    let commit = try repository.commit(tip)
    let blob = try repository.write(blob: [])
    func pair(_ mode: FileMode, _ id: ObjectID) throws -> ObjectID {
      try repository.write(
        tree: ["a", "b"].map { TreeEntry(name: TreePath($0), mode: mode, id: id) })
    }
    var tree = try pair(.regular, blob)
    for _ in 0..<40 { tree = try pair(.tree, tree) }
    func version(_ tree: ObjectID, on parent: ObjectID) throws -> ObjectID {
      try repository.write(
        commit: tree, parents: [parent], author: commit.author, committer: commit.author,
        message: "hostile\n")
    }
    let bomb = try version(tree, on: tip)
    let next = try version(commit.tree, on: bomb)
    try #require(try home.git(["reset", "-q", "--soft", next.hex]).isEmpty)
    return bomb
  }

  private func isTooLarge(_ body: () throws -> Void) -> Bool {
    do {
      try body()
    } catch GitError.tooLarge {
      return true
    } catch {}
    return false
  }

  /// "what would look at it ends with an error that names it".
  @Test("Whatever would look at it ends with an error")
  func ends() throws {
    let notebook = home.notebook
    #expect(isTooLarge { try notebook.history.forEachVersion { _ in true } })
    #expect(isTooLarge { try notebook.history.forEachVersion(of: "a.txt") { _ in true } })
    #expect(
      isTooLarge { _ = try notebook.repository.files(in: notebook.repository.commit(bomb).tree) })
    #expect(try notebook.history.checkIntegrity().oversized.map(\.id) == [bomb])
  }

  /// "rewrites the whole history, whoever made it"
  @Test("It is cut off, and nothing else is lost")
  func pruned() throws {
    let other = try Fixture()
    other.seconds.now = home.seconds.now
    _ = try other.git(["fetch", "-q", home.path, "HEAD"])
    let former = try #require(try home.notebook.state().tip)
    _ = try other.git(["reset", "-q", "--hard", former.hex])

    let cut = try home.notebook.pruneOversized()
    #expect(cut.map(\.version) == [bomb])
    #expect(cut[0].why == "files and folders in a version: the limit is 2000000")
    #expect(try home.read("a.txt") == "two\n")
    #expect(try home.git(["status", "--porcelain"]).isEmpty)
    #expect(try home.git(["log", "--format=%s"]) == "Update a\nhostile\nhostile\nAdd a\n")
    try home.notebook.history.forEachVersion { _ in true }
    #expect(try home.notebook.history.checkIntegrity().oversized.isEmpty)
    _ = try home.git(["rev-parse", "-q", "--verify", "refs/notes-state/cut/\(bomb)"])
    #expect(try home.notebook.pruneOversized().isEmpty)
    // "devices merge no head that descends from it"
    #expect(throws: NotebookError.self) { try home.notebook.merge([former]) }
    // The same on another device, which gets to the same version.
    #expect(try other.notebook.pruneOversized().count == 1)
    #expect(try other.notebook.state().tip == home.notebook.state().tip)
  }

  @Test("A notebook without such a version is left as it is")
  func nothingToDo() throws {
    let sound = try Fixture()
    #expect(try sound.notebook.pruneOversized().isEmpty)
    try sound.write("a.txt", "one\n")
    let version = try sound.notebook.save().version
    #expect(try sound.notebook.pruneOversized().isEmpty)
    #expect(try sound.notebook.state().tip == version)
  }
}
