import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Notes that are left out of the folder", on a file system that does not.
@Suite(
  "A notebook on a disk of another system",
  .enabled("this machine mounts no exFAT file system") { ForeignDisk.isToBeHad })
struct ForeignDiskTests {
  private let disk: ForeignDisk
  private let home: Fixture
  private let abroad: Fixture

  init() throws {
    disk = try ForeignDisk()
    home = try Fixture()
    try home.write("A.txt", "capital\n")
    try home.write("Trip/one.txt", "one\n")
    _ = try home.notebook.save()
    abroad = try Fixture(device: "Bob", in: disk.path)
    try abroad.receive(from: home)
  }

  /// What a note abroad holds; nil where the folder does not list it by that name: it may find it by
  /// another.
  private func there(_ note: TreePath) throws -> String? {
    let listing = try FolderListing(folder: abroad.path) { _, _ in false }
    guard listing.files.contains(note) else { return nil }
    return try abroad.read(note.description)
  }

  private func exchange() throws {
    _ = try home.notebook.save()
    _ = try abroad.notebook.save()
    try abroad.receive(from: home)
    try home.receive(from: abroad)
    #expect(try abroad.notebook.state().tip == home.notebook.state().tip)
    #expect(try abroad.notebook.status().changes == [])
    #expect(try abroad.notebook.save().version == nil)
  }

  @Test("names that it refuses or has already stay out of the folder and in every version")
  func leftOut() throws {
    try home.write("a.txt", "small\n")
    try home.write("What next?.txt", "question\n")
    try home.write("Where?/deep/now.txt", "deep\n")
    try home.write("trip/two.txt", "two\n")
    try exchange()
    let left = ["What next?.txt", "Where?/deep/now.txt", "a.txt", "trip/two.txt"] as [TreePath]
    #expect(try abroad.notebook.workTree.sparseFiles() == left)
    #expect(
      try abroad.notebook.status().skipped == left.map { SkippedFile(path: $0, reason: .sparse) })
    #expect(try there("A.txt") == "capital\n")
    #expect(try there("Trip/one.txt") == "one\n")
    #expect(try abroad.notebook.workTree.text(of: "a.txt") == Array("small\n".utf8))
    #expect(try abroad.git(["status", "--porcelain"]) == "")

    // Each goes its own way, on both sides.
    try home.write("a.txt", "small, edited\n")
    try abroad.write("A.txt", "capital, edited\n")
    try home.write("What next?.txt", "question, edited\n")
    try exchange()
    #expect(try home.read("A.txt") == "capital, edited\n")
    #expect(try home.read("a.txt") == "small, edited\n")
    #expect(try there("A.txt") == "capital, edited\n")
    #expect(try abroad.notebook.workTree.sparseFiles() == left)

    // There is room when the other name goes, and when a name is one that is taken.
    try #require(rename(home.path + "/A.txt", home.path + "/Other.txt") == 0)
    try home.remove("Where?")
    _ = try abroad.notebook.rename("What next?.txt", to: "What next.txt")
    try exchange()
    #expect(try there("a.txt") == "small, edited\n")
    #expect(try there("Other.txt") == "capital, edited\n")
    #expect(try there("What next.txt") == "question, edited\n")
    #expect(try home.read("What next?.txt") == nil)
    #expect(try abroad.notebook.workTree.sparseFiles() == ["trip/two.txt"])

    _ = try abroad.notebook.delete(["trip/two.txt"])
    try exchange()
    #expect(try home.read("trip/two.txt") == nil)
    #expect(try there("Trip/one.txt") == "one\n")
    #expect(try abroad.notebook.workTree.sparseFiles() == [])
  }

  // "What is left out is tried again by every checkout and every save of the whole folder."
  @Test("a save brings what there is room for now")
  func room() throws {
    try home.write("a.txt", "small\n")
    try exchange()
    #expect(try abroad.notebook.workTree.sparseFiles() == ["a.txt"])
    try #require(rename(abroad.path + "/A.txt", abroad.path + "/B.txt") == 0)
    let saved = try abroad.notebook.save()
    #expect(saved.changes.map(\.path) == ["A.txt", "B.txt"])
    #expect(try there("a.txt") == "small\n")
    #expect(try there("B.txt") == "capital\n")
    try exchange()
  }

  // "Where the index is lost, a note that the folder lacks and could not hold counts as left out."
  @Test("nothing is deleted when the index is lost", arguments: ["", "DIRC, but nothing more"])
  func lostIndex(text: String) throws {
    try home.write("a.txt", "small\n")
    try home.write("What next?.txt", "question\n")
    try exchange()
    try abroad.write(".git/index", text)
    #expect(try abroad.notebook.status().changes == [])
    try exchange()
    #expect(try abroad.notebook.workTree.sparseFiles() == ["What next?.txt", "a.txt"])
    #expect(try home.read("What next?.txt") == "question\n")
  }

  // "If core.fileMode is false …, a file keeps the mode of its last version, and a new file is not executable."
  @Test("every file looks executable there, and none becomes it")
  func modes() throws {
    try #require(chmod(home.path + "/A.txt", 0o755) == 0)
    try home.write("plain.txt", "plain\n")
    try exchange()
    try abroad.write("plain.txt", "edited\n")
    try abroad.write("new.txt", "new\n")
    try abroad.write("A.txt", "edited\n")
    try exchange()
    #expect(
      try home.git(["ls-files", "--format=%(objectmode) %(path)"])
        == "100755 A.txt\n100644 Trip/one.txt\n100644 new.txt\n100644 plain.txt\n")
    // Asking for bits where there are none changes nothing.
    try abroad.notebook.setExecutableFiles("true")
    #expect(try abroad.git(["config", "core.fileMode"]) == "false\n")
    #expect(try abroad.notebook.status().changes.isEmpty)
  }

  @Test("a rename that changes the case alone travels, from there and to there")
  func caseAlone() throws {
    try #require(rename(abroad.path + "/A.txt", abroad.path + "/a.txt") == 0)
    try exchange()
    #expect(try home.read("A.txt") == nil)
    #expect(try home.read("a.txt") == "capital\n")
    try #require(rename(home.path + "/Trip", home.path + "/TRIP") == 0)
    try exchange()
    #expect(try there("TRIP/one.txt") == "one\n")
    #expect(try there("Trip/one.txt") == nil)
    #expect(try abroad.notebook.workTree.sparseFiles() == [])
  }

  @Test("it is packed where there are no links")
  func packed() throws {
    #expect(try abroad.notebook.collectGarbage { _, _ in } != nil)
    #expect(try abroad.notebook.collectGarbage { _, _ in } != nil)
    #expect(access(abroad.path + "/.git/gc.pid", F_OK) != 0)
    _ = try abroad.git(["fsck", "--strict"])
  }

  @Test(
    "a note whose name differs by case alone from another's gets a name of its own, as everywhere")
  func madeApart() throws {
    try home.write("b.txt", "home\n")
    try abroad.write("B.txt", "abroad\n")
    try exchange()
    #expect(try abroad.notebook.workTree.sparseFiles() == [])
    let names = try abroad.notebook.repository.files(
      in: abroad.notebook.repository.commit(#require(try abroad.notebook.state().tip)).tree)
    #expect(names.count == 4)
    for name in names.map(\.path) { #expect(try there(name) == home.read(name.description)) }
  }
}
