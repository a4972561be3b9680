import Git
import Glibc
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// What this device makes of files that others wrote.
@Suite("Others' files")
struct OthersFilesTests {
  private func permissions(_ name: String, _ home: Fixture) -> mode_t {
    var status = stat()
    return stat("\(home.path)/\(name)", &status) == 0 ? status.st_mode & 0o111 : .max
  }

  // notes-merge(7): "A checkout makes no file executable, unless …".
  @Test("what others made executable is not, until it is asked for")
  func executables() throws {
    let ada = try Fixture()
    try ada.write("run.sh", "echo 1\n")
    _ = try ada.notebook.save()
    let bob = try ada.clone(device: "Bob")
    for name in ["run.sh", "other.sh"] {
      try bob.write(name, "echo 2\n")
      try #require(chmod("\(bob.path)/\(name)", 0o755) == 0)
    }
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
    #expect(permissions("run.sh", ada) == 0 && permissions("other.sh", ada) == 0)
    // It is no edit, and an edit does not take the bit from the version.
    #expect(try ada.notebook.status().changes.isEmpty)
    try ada.write("run.sh", "echo 3\n")
    _ = try ada.notebook.save()
    #expect(try ada.git(["ls-files", "-s", "run.sh"]).hasPrefix("100755"))
    // Asked for, it is set, and from then on.
    try ada.notebook.setExecutables("true")
    #expect(permissions("run.sh", ada) & 0o100 != 0 && permissions("other.sh", ada) & 0o100 != 0)
    #expect(try ada.notebook.status().changes.isEmpty)
    try bob.receive(from: ada)
    try bob.write("run.sh", "echo 4\n")
    try #require(chmod("\(bob.path)/run.sh", 0o755) == 0)
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
    #expect(permissions("run.sh", ada) & 0o100 != 0)
    #expect(try ada.notebook.workTree.executablesSetting() == "true")
  }

  @Test("a file that is made executable here is so in its version")
  func ownExecutables() throws {
    let ada = try Fixture()
    try ada.write("run.sh", "echo 1\n")
    _ = try ada.notebook.save()
    try #require(chmod("\(ada.path)/run.sh", 0o755) == 0)
    _ = try ada.notebook.save()
    #expect(try ada.git(["ls-files", "-s", "run.sh"]).hasPrefix("100755"))
    #expect(permissions("run.sh", ada) == 0o111)
  }
}
