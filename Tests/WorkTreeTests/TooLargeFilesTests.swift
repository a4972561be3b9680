import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Files that are too large": what no other device takes never becomes part of a version.
@Suite("Notes that have grown too large for a version")
struct TooLargeFilesTests {
  let home: Fixture
  let other: Fixture
  private static let size = PackLimits.standard.objectBytes + 1

  init() throws {
    home = try Fixture()
    for name in ["big.txt", "b.txt"] { try home.write(name, "small\n") }
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
    // A file with a hole takes no room.
    try #require(truncate(home.path + "/big.txt", off_t(Self.size)) == 0)
    _ = try home.notebook.save()
  }

  /// The names of the files of that size in the folder.
  private func large() throws -> [String] {
    try TestSupport.run(["find", ".", "-name", "*.txt", "-size", "+64M"], in: home.path).lines
      .sorted()
  }

  /// No version holds what others do not take, and what Bob makes arrives.
  private func check() throws {
    let largest = try home.git(["cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"])
      .split(separator: "\n").compactMap { Int($0) }.max()
    #expect(try #require(largest) < 1 << 20)
    try other.write("b.txt", "by bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try home.read("b.txt") == "by bob\n")
    #expect(try home.notebook.state().tip == other.notebook.state().tip)
  }

  @Test("somebody edits it: the edit waits, and comes when the file is gone")
  func edited() throws {
    for text in ["one\n", "small\nby bob\n"] {
      try other.write("big.txt", text)
      _ = try other.notebook.save()
      try home.receive(from: other)
      #expect(try large() == ["./big.txt"])
      #expect(try home.notebook.status().skipped.map(\.path) == ["big.txt"])
    }
    try check()
    try #require(rename(home.path + "/big.txt", home.path + "/other.bin") == 0)
    _ = try home.notebook.save()
    #expect(try home.read("big.txt") == "small\nby bob\n")
  }

  @Test("somebody deletes or renames it: it stays where it is", arguments: [true, false])
  func deleted(isRename: Bool) throws {
    if isRename {
      _ = try other.notebook.rename("big.txt", to: "new.txt")
    } else {
      _ = try other.notebook.delete(["big.txt"])
    }
    try home.receive(from: other)
    #expect(try large() == ["./big.txt"])
    #expect(try home.read("new.txt") == (isRename ? "small\n" : nil))
    try check()
  }

  @Test("somebody makes a note where such a file is: the note waits")
  func added() throws {
    try writeFile(home.path + "/new.txt", [])
    try #require(truncate(home.path + "/new.txt", off_t(Self.size)) == 0)
    try other.write("new.txt", "by bob\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try large() == ["./big.txt", "./new.txt"])
    #expect(try home.notebook.status().skipped.map(\.path) == ["big.txt", "new.txt"])
    try check()
  }

  @Test("mv, rm and restore refuse, and change nothing")
  func commands() throws {
    func isRefused(_ body: () throws -> Void) -> Bool {
      do { try body() } catch NotebookError.fileTooLarge("big.txt", Self.size) { return true } catch
      {}
      return false
    }
    let notebook = home.notebook
    #expect(isRefused { _ = try notebook.rename("big.txt", to: "new.txt") })
    #expect(isRefused { _ = try notebook.delete(["big.txt"]) })
    #expect(try large() == ["./big.txt"])
    try check()
  }

  @Test("a path that no device takes is refused before there is a version of it")
  func paths() throws {
    let deep = TreePath((0...PackLimits.standard.depth).map { "f\($0)" }.joined(separator: "/"))
    #expect {
      _ = try home.notebook.rename("b.txt", to: deep.appending("b.txt"))
    } throws: {
      if case NotebookError.unfitPath = $0 { true } else { false }
    }
    #expect(try home.read("b.txt") == "small\n")
    try check()
  }

  @Test("nothing stores an object that no device takes")
  func store() {
    let content = [UInt8](repeating: 0x61, count: Self.size)
    #expect {
      _ = try home.notebook.repository.write(blob: content)
    } throws: {
      if case GitError.objectTooLarge(.blob, Self.size, _) = $0 { true } else { false }
    }
  }

  @Test("a history that holds one is told, and the doctor cuts it off")
  func pruned() throws {
    _ = try home.git(["add", "big.txt"])
    _ = try home.git(["commit", "-q", "-m", "large"])
    try home.write("b.txt", "two\n")
    _ = try home.git(["commit", "-q", "-a", "-m", "on top"])
    let oversized = try home.notebook.history.checkIntegrity().oversized
    #expect(oversized.count == 1 && oversized.first?.what == "big.txt has \(Self.size) bytes")
    #expect(try !home.notebook.pruneOversized().isEmpty)
    #expect(try home.notebook.history.checkIntegrity().oversized.isEmpty)
    #expect(try large() == ["./big.txt"])
    #expect(try home.read("b.txt") == "two\n")
  }
}
