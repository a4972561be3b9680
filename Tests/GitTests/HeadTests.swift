import Glibc
import TestSupport
import Testing

@testable import Git

@Suite("Git: what HEAD says")
struct HeadTests {
  let scratch = Scratch()
  let repository: Repository
  let commit: ObjectID

  init() throws {
    repository = try Repository.create(at: scratch.path)
    repository.identity = ("Ada", "ada@example.org")
    commit = try repository.write(
      commit: .emptyTree, parents: [], author: tester, committer: tester, message: "m\n")
    try repository.update(
      reference: "refs/heads/main", to: commit, from: nil, message: "notes: save")
  }

  private func write(_ bytes: [UInt8], to name: String = "HEAD") throws {
    let file = try #require(fopen(repository.gitFolder + "/" + name, "w"))
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  /// Nothing of it may be taken for a branch without versions, on which all would begin anew.
  @Test(
    "a file that names no branch is damaged",
    arguments: [
      "", "\n", "garbage\n", "ref: \n", "ref: main\n", "ref: refs/heads/\n",
      "ref: refs/heads/a b\n",
      "ref: refs/heads/../../x\n", "ref: refs/heads/.x\n", "ref: refs/heads/x.lock\n",
      "ref: refs/heads//x\n", "ref: refs/heads/x~\n",
      "ref: refs/heads/a..b\n", "ref: refs/heads/a@{b\n",
      "ref: refs/heads/a\\b\n", "ref: refs/heads/a\u{7f}\n",
      "ref: refs/heads/a.\n", "ref: refs/heads/a\u{fffd}\n",
      "ref: /etc/passwd\n", "\0\0\0\0\0\0\0\0", "0123456789\n",
    ])
  func garbage(_ text: String) throws {
    try write(Array(text.utf8))
    let error = #expect(throws: GitError.self) { try repository.head() }
    guard case .brokenReference("HEAD") = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("a name that is not UTF-8 is not read as another, and a missing file is not made up for")
  func others() throws {
    try write(Array("ref: refs/heads/caf".utf8) + [0xe9, 0x0a])
    #expect(throws: GitError.self) { try repository.head() }
    try #require(unlink(repository.gitFolder + "/HEAD") == 0)
    #expect {
      try Repository.open(at: scratch.path)
    } throws: {
      if case GitError.brokenReference("HEAD") = $0 { true } else { false }
    }
    try #require(mkdir(repository.gitFolder + "/HEAD", 0o777) == 0)
    #expect(throws: GitError.self) { try repository.head() }
  }

  @Test(
    "spaces are what git takes them for",
    arguments: ["ref: refs/heads/main", "ref:refs/heads/main\r\n", "ref: \t refs/heads/main \n"])
  func spaces(_ text: String) throws {
    try write(Array(text.utf8))
    #expect(try repository.head() == Head(reference: "refs/heads/main", commit: commit))
    let parsed = try run(["git", "-C", scratch.path, "rev-parse", "HEAD"])
    #expect(parsed.lines == [commit.hex])
  }

  // Programs that copy a folder leave out folders that are empty.
  @Test("the folder of references comes back where one file has them; else the branch is damaged")
  func folderLost() throws {
    func git(_ words: String...) throws {
      try #require(try run(["git", "-C", scratch.path] + words).isSuccess, "\(words)")
    }
    let folder = repository.gitFolder + "/refs"
    try git("pack-refs", "--all")
    try #require(try run(["rm", "-r", folder]).isSuccess)
    let copy = try Repository.open(at: scratch.path)
    #expect(try copy.head() == Head(reference: "refs/heads/main", commit: commit))
    let next = try copy.write(
      commit: .emptyTree, parents: [commit], author: tester, committer: tester, message: "n\n")
    try copy.update(reference: "refs/heads/main", to: next, from: commit, message: "notes: save")
    try git("fsck", "--strict")
    #expect(try run(["git", "-C", scratch.path, "rev-parse", "HEAD"]).lines == [next.hex])
    // Its file is gone with the folder, and what stood there is not known.
    try #require(unlink(repository.gitFolder + "/packed-refs") == 0)
    try #require(try run(["rm", "-r", folder]).isSuccess)
    #expect {
      try Repository.open(at: scratch.path).head()
    } throws: {
      if case GitError.brokenReference("refs/heads/main") = $0 { true } else { false }
    }
  }

  @Test("a branch's file that holds no ID is damaged", arguments: ["", "garbage\n", "\0\0\0"])
  func branch(_ text: String) throws {
    try write(Array(text.utf8), to: "refs/heads/main")
    #expect {
      try repository.head()
    } throws: {
      if case GitError.brokenReference("refs/heads/main") = $0 { true } else { false }
    }
  }
}
