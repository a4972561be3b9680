import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Foreign commits".
@Suite("Versions made with git that no device takes")
struct PortableRewriteTests {
  let home: Fixture
  let other: Fixture

  init() throws {
    home = try Fixture()
    for name in ["a.txt", "b.txt"] { try home.write(name, "\(name)\n") }
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  @discardableResult
  func git(_ arguments: String...) throws -> String { try home.git(arguments) }

  /// A foreign commit, with a link and a note.
  private func commitLink() throws {
    try #require(symlink("a.txt", home.path + "/l.txt") == 0)
    try home.write("c.txt", "by hand\n")
    try git("add", ".")
    try git("commit", "-qm", "by hand")
  }

  /// As at the beginning of a session.
  func makeReady() throws -> PortableVersion? {
    _ = try home.notebook.save()
    return try home.notebook.rewritePortably()
  }

  /// A pack of everything is one that the checks let through, and both show the same afterwards.
  func meet(changes: String = "") throws {
    let tip = try #require(try home.notebook.state().tip)
    let pack = try home.notebook.repository.pack(wants: [tip], haves: [])
    let quarantine = try other.notebook.repository.quarantine()
    while let piece = try pack.next() { try quarantine.append(piece) }
    _ = try quarantine.join(promised: [tip])
    _ = try other.notebook.merge([tip])
    #expect(try other.notebook.state().tip == tip)
    #expect(try git("status", "--porcelain", "--untracked-files=no") == changes)
    try git("fsck", "--strict")
    #expect(try makeReady() == nil)
    #expect(try home.notebook.state().tip == tip)
  }

  @Test("A link is left out, its note is sent, and the folder stays as it is")
  func link() throws {
    try commitLink()
    try home.write("b.txt", "later\n")
    let made = try #require(try home.notebook.save().version)
    let plain = try #require(try makeReady())
    #expect(plain.made == made)
    #expect(plain.excluded == [SkippedFile(path: "l.txt", reason: .symbolicLink)])
    try meet()
    #expect(try other.read("c.txt") == "by hand\n")
    #expect(try other.read("b.txt") == "later\n")
    #expect(try other.read("l.txt") == nil)
    var status = stat()
    #expect(lstat(home.path + "/l.txt", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    // Both kinds of author, and what they wrote, are as they were.
    #expect(try git("log", "-3", "--format=%an %s") == "Ada Update b\nP by hand\nAda Add a, b\n")
    // What was made stays findable.
    try git("rev-parse", "--verify", "-q", "refs/notes-state/by-hand/\(made)")
    // Later versions do not bring it back.
    try home.write("b.txt", "again\n")
    #expect(try home.notebook.save().changes.map(\.path) == ["b.txt"])
    try meet()
  }

  @Test("A link in the place of a note deletes it as little as one that is not committed")
  func linkForNote() throws {
    try home.remove("a.txt")
    try #require(symlink("b.txt", home.path + "/a.txt") == 0)
    try git("commit", "-qam", "by hand")
    #expect(try makeReady()?.excluded.map(\.path) == ["a.txt"])
    try meet(changes: " T a.txt\n")
    #expect(try other.read("a.txt") == "a.txt\n")
    try home.remove("a.txt")
    try home.write("a.txt", "a note again\n")
    _ = try home.notebook.save()
    try meet()
    #expect(try other.read("a.txt") == "a note again\n")
  }

  @Test("Names that no device takes, a submodule, and a merge of such branches")
  func otherKinds() throws {
    try home.write("line\nbreak.txt", "1\n")
    try home.write("tab\t/deep.txt", "2\n")
    try git("add", "-A")
    try git("commit", "-qm", "names")
    try git("checkout", "-qb", "side", "HEAD~1")
    try home.write("s.txt", "side\n")
    let id = try git("rev-parse", "HEAD").split(separator: "\n")[0]
    try git("update-index", "--add", "--cacheinfo", "160000,\(id),sub")
    try git("add", "s.txt")
    try git("commit", "-qm", "submodule")
    try git("checkout", "-q", "main")
    try git("merge", "-qm", "both", "side")
    let plain = try #require(try makeReady())
    #expect(plain.excluded.map(\.path) == ["line\nbreak.txt", "sub", "tab\t/deep.txt"])
    try meet()
    #expect(try other.read("s.txt") == "side\n")
    #expect(try home.read("line\nbreak.txt") == "1\n")
  }

  @Test("Names and times of people that no device takes")
  func people() throws {
    let head = try #require(try home.notebook.repository.head().commit)
    let tree = try home.notebook.repository.commit(head).tree
    let made = try home.notebook.repository.write(
      commit: tree, parents: [head],
      author: Signature(name: "A\tB", email: "a@b", time: 5, offset: 0),
      committer: Signature(name: "P", email: "p", time: 253_402_300_800, offset: 0),
      message: "by hand\n")
    try git("update-ref", "refs/heads/main", made.hex)
    let plain = try #require(try makeReady())
    #expect(plain.excluded.isEmpty)
    try meet()
    #expect(
      try git("log", "-1", "--format=%an %at %ct") == "A B 5 253402300799\n")
  }

  @Test("Whoever takes up the same commits comes to the same version")
  func alike() throws {
    try #require(symlink("a.txt", home.path + "/l.txt") == 0)
    try git("add", ".")
    try git("commit", "-qm", "by hand")
    let pulled = try TestSupport.run(["git", "-C", other.path, "pull", "-q", home.path, "main"])
    #expect(pulled.isSuccess, "\(pulled.errorText)")
    _ = try other.notebook.save()
    let there = try other.notebook.rewritePortably()?.version
    let here = try #require(try makeReady())
    #expect(here.version == there)
    // Taken up once more, it comes to the same.
    try git("reset", "-q", "--hard", here.made.hex)
    #expect(try makeReady()?.version == there)
  }

  @Test("A link that is only in the index becomes no part of a version")
  func staged() throws {
    try #require(symlink("a.txt", home.path + "/l.txt") == 0)
    try git("add", "l.txt")
    try home.write("b.txt", "later\n")
    #expect(try home.notebook.save().changes.map(\.path) == ["b.txt"])
    #expect(try git("ls-tree", "--name-only", "HEAD") == "a.txt\nb.txt\n")
    #expect(try makeReady() == nil)
    try meet()
  }

  @Test("An undo takes back what was made by hand, without what was left out")
  func undo() throws {
    try commitLink()
    _ = try makeReady()
    #expect(try home.notebook.history.operations().first?.kind == .git)
    _ = try home.notebook.undo()
    #expect(try home.read("c.txt") == nil)
    try meet()
  }

  @Test("A version that moved on in a join is not looked at again")
  func join() throws {
    try #require(symlink("a.txt", home.path + "/l.txt") == 0)
    try git("add", ".")
    try git("commit", "-qm", "by hand")
    try other.write("b.txt", "theirs\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try makeReady() == nil)
    try meet()
    #expect(try home.read("b.txt") == "theirs\n")
  }
}
