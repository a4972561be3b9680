import Glibc
import System
import TestSupport
import Testing

private typealias Disk = FileSystem<SystemCallError>

@Suite("Locks on files", .timeLimit(.minutes(20)))
struct FileLockTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("a file is locked once, until whoever has it lets it go")
  func locks() throws {
    let path = folder["lock"]
    #expect(!Disk.isLocked(path))
    var first = try Disk.lock(path)
    #expect(first != nil)
    #expect(Disk.isLocked(path))
    #expect(try Disk.lock(path) == nil)
    #expect(try Disk.lock(path, until: .now + 0.02) == nil)
    first = nil
    #expect(!Disk.isLocked(path))
    #expect(try Disk.lock(path, until: .never) != nil)
  }

  @Test("what can't be opened is an error, and is not locked")
  func errors() {
    #expect(throws: SystemCallError.system(call: "open", path: folder["no/lock"], errno: ENOENT)) {
      _ = try Disk.lock(folder["no/lock"])
    }
    #expect(!Disk.isLocked(folder["no/lock"]))
  }

  @Test("a folder is listed with all that is in it")
  func listing() throws {
    try folder.write("1", to: "here/a/file")
    try folder.write("2", to: "here/b")
    try #require(symlink("a", folder["here/c"]) == 0)
    var found: Set<String> = []
    try Disk.list(folder["here"]) { entry in
      found.insert(String(decoding: entry.name, as: UTF8.self))
    }
    #expect(found == ["a", "b", "c"])
  }
}
