import Git
import Glibc
import State
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// How a folder becomes a notebook.
@Suite("Making a folder a notebook")
struct MakingTests {
  let folder: TemporaryFolder
  private let identity = NotebookIdentity(
    id: "made", name: "Home", device: DeviceIdentity(name: "Ada", deviceID: "ADA"))

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("mine\n", to: "there/a.txt")
  }

  private struct BrokenOff: Error {}

  private func names(in path: String) throws -> [String] {
    try run(["ls", "-A", folder[path]]).lines
  }

  // notes-init(1): "A folder that does not exist is made, for its user alone."
  @Test("a folder that is made is its user's alone; one that is there stays as open as it was")
  func permissions() throws {
    func mode(_ name: String) -> mode_t {
      var status = stat()
      return stat(folder[name], &status) == 0 ? status.st_mode & 0o777 : 0
    }
    chmod(folder["there"], 0o755)
    for name in ["there", "new"] { _ = try Notebook.make(at: folder[name]) { _ in identity } }
    #expect(mode("new") == 0o700 && mode("there") == 0o755)
    _ = try Notebook.prepare(at: folder["prepared"])
    #expect(mode("prepared") == 0o700)
  }

  @Test("broken off, it leaves the folder as it was")
  func brokenOff() throws {
    for name in ["there", "new"] {
      #expect(throws: BrokenOff.self) {
        try Notebook.make(at: folder[name]) { state in
          try writeFile(state.path + "/half", [1])
          throw BrokenOff()
        }
      }
    }
    #expect(try names(in: ".") == ["there"])
    #expect(try names(in: "there") == ["a.txt"])
  }

  @Test("what a killed one left is in nobody's way")
  func leftover() throws {
    try folder.write("half", to: "there/.git.new/.git/HEAD")
    let notebook = try Notebook.make(at: folder["there"]) { _ in identity }
    #expect(try notebook.save().changes.map(\.path) == ["a.txt"])
    #expect(try names(in: "there") == [".git", "a.txt"])
  }

  @Test("a repository that is there keeps its history")
  func repository() throws {
    let there = folder["there"]
    #expect(try run(["git", "init", "-q", there]).isSuccess)
    _ = try Notebook.make(at: there) { state in
      try writeFile(state.path + "/kept", [1])
      return identity
    }
    #expect(try Notebook.open(at: there).identity == identity)
    #expect(access(there + "/.git/notes/kept", F_OK) == 0)
    #expect(throws: NotebookError.self) { try Notebook.make(at: there) { _ in identity } }
  }
}
