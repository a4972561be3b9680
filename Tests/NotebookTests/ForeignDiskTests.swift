import Git
import Glibc
import TestSupport
import Testing

@testable import Notebook

/// What holds on a file system that has neither links nor modes.
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
    guard listing.allPaths.contains(note) else { return nil }
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

  // "Where core.fileMode is false a file keeps the mode that its last version has, and a new one is not
  // executable."
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
  }

  @Test("it is packed where there are no links")
  func packed() throws {
    #expect(try abroad.notebook.collectGarbage { _, _ in } != nil)
    #expect(try abroad.notebook.collectGarbage { _, _ in } != nil)
    #expect(access(abroad.path + "/.git/gc.pid", F_OK) != 0)
    _ = try abroad.git(["fsck", "--strict"])
  }
}
