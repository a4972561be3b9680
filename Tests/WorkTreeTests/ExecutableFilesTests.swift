import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Executable files".
@Suite("Executable files")
struct ExecutableFilesTests {
  private let ada: Fixture
  private let bob: Fixture

  /// Bob has made two files executable, of which Ada wrote one; Ada has received them.
  init() throws {
    ada = try Fixture()
    try ada.write("run.sh", "echo 1\n")
    _ = try ada.notebook.save()
    bob = try ada.clone(device: "Bob")
    try bob.write("other.sh", "echo 2\n")
    for name in ["run.sh", "other.sh"] { try makeExecutable(name, bob) }
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
  }

  private func makeExecutable(_ name: String, _ home: Fixture) throws {
    try #require(chmod("\(home.path)/\(name)", 0o755) == 0)
  }

  private func bits(_ name: String, _ home: Fixture) -> mode_t {
    var status = stat()
    return stat("\(home.path)/\(name)", &status) == 0 ? status.st_mode & 0o111 : .max
  }

  private func versioned(_ home: Fixture) throws -> String {
    try home.git(["ls-tree", "--format=%(objectmode) %(path)", "HEAD"])
  }

  // "A checkout makes no file executable."
  @Test("what others made executable is plain here, and no edit to us or to git")
  func plain() throws {
    #expect(bits("run.sh", ada) == 0 && bits("other.sh", ada) == 0)
    #expect(try ada.notebook.status().changes.isEmpty)
    #expect(try ada.notebook.save().version == nil)
    #expect(try ada.git(["status", "--porcelain"]) == "")
    _ = try ada.git(["fsck", "--strict"])
  }

  // "the bit stays in every version that is made here, with notes or with git"
  @Test("an edit keeps the bit for everybody, saved by us and committed with git")
  func kept() throws {
    let both = "100755 other.sh\n100755 run.sh\n"
    try ada.write("run.sh", "echo 3\n")
    #expect(try ada.notebook.save().version != nil)
    #expect(try versioned(ada) == both)
    try ada.write("other.sh", "echo 4\n")
    _ = try ada.git(["commit", "-qam", "by hand"])
    #expect(try versioned(ada) == both)
    try bob.receive(from: ada)
    #expect(try bob.read("other.sh") == "echo 4\n" && versioned(bob) == both)
    // Undoing brings back a text, and no bit.
    _ = try ada.notebook.undo()
    #expect(try versioned(ada) == both && bits("run.sh", ada) == 0)
    #expect(try ada.git(["status", "--porcelain"]) == "")
  }

  // "A text that another device writes into a file that is executable here is plain as well."
  @Test("another's text does not run under the bit that was set here")
  func replaced() throws {
    try makeExecutable("run.sh", ada)
    try bob.write("run.sh", "rm -r ~\n")
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
    #expect(try ada.read("run.sh") == "rm -r ~\n" && bits("run.sh", ada) == 0)
  }

  // "git update-index --chmod=+x gives a file the bit in the next version"
  @Test("a bit is given here with git, and set before anything was left out with chmod")
  func given() throws {
    try ada.write("mine.sh", "echo 5\n")
    try makeExecutable("mine.sh", ada)
    _ = try ada.notebook.save()
    #expect(try versioned(ada).contains("100644 mine.sh"))
    _ = try ada.git(["update-index", "--chmod=+x", "mine.sh"])
    #expect(try ada.notebook.save().version != nil)
    #expect(try versioned(ada).contains("100755 mine.sh") && bits("mine.sh", ada) == 0o111)
    let alone = try Fixture()
    try alone.write("mine.sh", "echo 6\n")
    try makeExecutable("mine.sh", alone)
    _ = try alone.notebook.save()
    #expect(try versioned(alone) == "100755 mine.sh\n")
  }

  // "With executable-files the bits of all versions count, of those that are here, too."
  @Test("asked for, bits are set, and those that are set here count again")
  func askedFor() throws {
    try ada.notebook.setExecutableFiles("true")
    #expect(bits("run.sh", ada) & 0o100 != 0 && bits("other.sh", ada) & 0o100 != 0)
    #expect(try ada.notebook.status().changes.isEmpty)
    #expect(try ada.git(["status", "--porcelain"]) == "")
    #expect(try ada.git(["config", "core.fileMode"]) == "true\n")
    try bob.write("more.sh", "echo 7\n")
    try makeExecutable("more.sh", bob)
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
    #expect(bits("more.sh", ada) & 0o100 != 0)
    try #require(chmod(ada.path + "/more.sh", 0o644) == 0)
    #expect(try ada.notebook.save().changes.map(\.path) == ["more.sh"])
    #expect(try versioned(ada).contains("100644 more.sh"))
  }

  // A watcher keeps its notebook open for days.
  @Test("an instance that was open before another left a bit out takes no bit away")
  func openElsewhere() throws {
    let home = try Fixture(device: "Cleo")
    try home.write("a.txt", "a\n")
    _ = try home.notebook.save()
    #expect(try home.git(["config", "core.fileMode"]) == "true\n")
    let other = try Notebook.open(at: home.path)
    try home.copyObjects(from: bob)
    _ = try other.merge(bob.notebook.state().heads)
    #expect(bits("run.sh", home) == 0)
    #expect(try home.notebook.status().changes.isEmpty)
    #expect(try home.notebook.save().version == nil)
    #expect(try versioned(home).contains("100755 run.sh"))
  }
}
