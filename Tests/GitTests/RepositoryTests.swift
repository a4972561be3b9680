import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Git

/// A folder that is removed with the value.
final class Scratch {
  let path: String
  init() {
    var template = Array("/tmp/notes-git-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? ""
    precondition(!path.isEmpty)
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

let tester = Signature(name: "Ada", email: "ada@example.org", time: 1_700_000_000, offset: 90)

@Suite("Git: objects, references, history")
struct RepositoryTests {
  let scratch = Scratch()
  let repository: Repository

  init() throws { repository = try Repository.create(at: scratch.path) }

  func commit(_ tree: ObjectID = .emptyTree, _ parents: [ObjectID] = [], _ message: String = "m\n")
    throws -> ObjectID
  {
    try repository.write(
      commit: tree, parents: parents, author: tester, committer: tester, message: message)
  }

  @Test("a blob has the ID that git gives it")
  func blob() throws {
    let id = try repository.write(blob: Array("hello\n".utf8))
    #expect(id.hex == "ce013625030ba8dba906f756967f9e9ca394464a")
    #expect(try repository.blob(id) == Array("hello\n".utf8))
    #expect(try repository.header(of: id).size == 6)
    #expect(try repository.hash(blob: []) == .emptyBlob)
    #expect(try repository.object(withPrefix: "ce0136") == id)
    #expect(try repository.object(withPrefix: "abcdef") == nil)
  }

  @Test("a missing object and one of another kind are told apart")
  func missing() throws {
    let blob = try repository.write(blob: [1])
    #expect(throws: GitError.self) { try repository.commit(blob) }
    do {
      _ = try repository.blob(.zero)
      Issue.record("no error")
    } catch GitError.missing(let id) {
      #expect(id == .zero)
    }
  }

  @Test("a tree comes back in git's order, whatever the order it was given in")
  func tree() throws {
    let blob = try repository.write(blob: [])
    let sub = try repository.write(tree: [TreeEntry(name: "x", mode: .regular, id: blob)])
    let id = try repository.write(tree: [
      TreeEntry(name: "a.txt", mode: .regular, id: blob),
      TreeEntry(name: "a", mode: .tree, id: sub),
      TreeEntry(name: "a-b", mode: .regular, id: blob),
    ])
    #expect(try repository.tree(id).entries.map(\.name) == ["a-b", "a.txt", "a"])
    #expect(try repository.files(in: id).map(\.path) == ["a-b", "a.txt", "a/x"])
  }

  @Test("a commit keeps its people, times, zones and message")
  func commits() throws {
    var west = tester
    west.offset = -210
    west.name = "Zoë <x>"
    let id = try repository.write(
      commit: .emptyTree, parents: [], author: west, committer: tester, message: "Grüße\n\nT: 1\n")
    let read = try repository.commit(id)
    #expect(read.author.name == "Zoë x")
    #expect(read.author.offset == -210)
    #expect(read.committer == tester)
    #expect(read.message == "Grüße\n\nT: 1\n")
  }

  @Test("a reference moves only from where it was seen")
  func references() throws {
    #expect(try repository.head() == Head(reference: "refs/heads/main", commit: nil))
    let first = try commit()
    let second = try commit(.emptyTree, [first])
    try repository.update(reference: "refs/heads/main", to: first, from: nil, message: "one")
    #expect(throws: GitError.self) {
      try repository.update(reference: "refs/heads/main", to: second, from: nil, message: "x")
    }
    #expect(throws: GitError.self) {
      try repository.update(reference: "refs/heads/main", to: first, from: second, message: "x")
    }
    try repository.update(reference: "refs/heads/main", to: second, from: first, message: "two")
    #expect(try repository.head().commit == second)
    try repository.set(reference: "refs/remotes/D/main", to: first, message: "seen")
    #expect(try repository.references(under: "refs/remotes/").map(\.id) == [first])
    try repository.delete(reference: "refs/remotes/D/main")
    try repository.delete(reference: "refs/remotes/D/main")
    #expect(try repository.reference("refs/remotes/D/main") == nil)
  }

  @Test("who descends from whom in random histories, with clocks that went wrong")
  func randomHistories() throws {
    var random = SplitMix64.reported(for: "histories")
    for _ in 0..<8 {
      var commits: [ObjectID] = []
      var ancestors: [Set<Int>] = []
      for number in 0..<Int.random(in: 20..<120, using: &random) {
        let parents = Set(
          (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
            commits.indices.suffix(12).randomElement(using: &random)
          })
        var signature = tester
        signature.time += Int64.random(in: -40...40, using: &random) + Int64(number)
        commits.append(
          try repository.write(
            commit: .emptyTree, parents: parents.sorted().map { commits[$0] }, author: signature,
            committer: signature, message: "\(number)\n"))
        ancestors.append(parents.reduce(into: [number]) { $0.formUnion(ancestors[$1]) })
      }
      func heads(_ some: Set<Int>) -> Set<Int> {
        some.filter { one in !some.contains { $0 != one && ancestors[$0].contains(one) } }
      }
      for _ in 0..<60 {
        let (one, other) = (
          Int.random(in: commits.indices, using: &random),
          Int.random(in: commits.indices, using: &random)
        )
        let isAncestor = try repository.isAncestor(commits[one], of: commits[other])
        #expect(isAncestor == ancestors[other].contains(one))
        let bases = try repository.mergeBases(of: commits[one], and: commits[other])
        let expected = heads(ancestors[one].intersection(ancestors[other]))
        #expect(bases == expected.map { commits[$0] }.sorted())
        let some = Set(
          (0..<Int.random(in: 1..<100, using: &random)).map { _ in
            Int.random(in: commits.indices, using: &random)
          })
        let found = try repository.heads(among: some.map { commits[$0] })
        #expect(found == Set(heads(some).map { commits[$0] }))
      }
    }
  }

  @Test("ancestors and merge bases")
  func history() throws {
    let root = try commit()
    let left = try commit(.emptyTree, [root], "l")
    let right = try commit(.emptyTree, [root], "r")
    let cross1 = try commit(.emptyTree, [left, right], "c1")
    let cross2 = try commit(.emptyTree, [left, right], "c2")
    #expect(try repository.mergeBases(of: left, and: right) == [root])
    #expect(try repository.mergeBases(of: cross1, and: cross2) == [left, right].sorted())
    #expect(try repository.isAncestor(root, of: cross1))
    #expect(try repository.isAncestor(left, of: left))
    #expect(try !repository.isAncestor(left, of: right))
    #expect(try repository.mergeBases(of: root, and: commit(.emptyTree, [], "other")).isEmpty)
    let walked = try repository.commits(from: [cross1], lacking: [root])
    #expect(Set(walked) == [left, right, cross1])
    #expect(walked.last == cross1)
  }

  @Test("changes between trees are found by path, and written back")
  func changes() throws {
    let one = try repository.write(blob: [1])
    let two = try repository.write(blob: [2])
    let entry = { (id: ObjectID) in TreeEntry(name: "", mode: .regular, id: id) }
    let old = try repository.write(
      tree: nil, replacing: ["a": entry(one), "d/e/f": entry(one), "d/g": entry(one)])
    let new = try repository.write(
      tree: old, replacing: ["a": entry(two), "d/e/f": nil, "d/h": entry(two)])
    #expect(try repository.changes(from: old, to: new).map(\.path) == ["a", "d/e/f", "d/h"])
    #expect(try repository.entry(at: "d/e", in: new) == nil)
    #expect(try repository.entry(at: "d/g", in: new)?.id == one)
    let swapped = try repository.write(tree: new, replacing: ["d/g/x": entry(two)])
    #expect(try repository.files(in: swapped).map(\.path) == ["a", "d/g/x", "d/h"])
    let gone = try repository.write(
      tree: old, replacing: ["a": nil, "d/e/f": nil, "d/g": nil])
    #expect(gone == .emptyTree)
  }

  @Test("the index file reads the same through libgit2 and without it")
  func index() throws {
    #expect(try repository.readIndex().entries.isEmpty)
    let git = { (words: String...) in
      try run(["git", "-C", scratch.path] + words, input: [], within: 80).text
    }
    #expect(mkdir(scratch.path + "/b", 0o777) == 0)
    for name in ["a.txt", "b/c.txt", "ü.txt"] {
      try writeFile(scratch.path + "/" + name, Array(name.utf8))
    }
    _ = try git("add", ".")
    let file = try #require(try IndexFile(ofRepositoryAt: repository.gitFolder))
    #expect(try file.entries == repository.readIndex().entries)
    #expect(file.entries.map(\.path) == ["a.txt", "b/c.txt", "ü.txt"])
    let tree = try #require(ObjectID(hex: String(try git("write-tree").prefix(40))))
    #expect(try repository.files(in: tree).map(\.path) == file.entries.map(\.path))
    // Version 4 is read by libgit2 alone.
    _ = try git("update-index", "--index-version", "4")
    #expect(try IndexFile(ofRepositoryAt: repository.gitFolder) == nil)
    #expect(try repository.readIndex().entries == file.entries)
  }

  @Test("git's skip-worktree bit is read, kept, set and taken away")
  func skipWorktree() throws {
    let git = { (words: String...) in
      try run(["git", "-C", scratch.path] + words, input: [], within: 80).text
    }
    for name in ["a.txt", "b.txt", "c.txt"] {
      try writeFile(scratch.path + "/" + name, Array(name.utf8))
    }
    _ = try git("add", ".")
    _ = try git("update-index", "--skip-worktree", "b.txt")
    _ = try git("update-index", "--assume-unchanged", "c.txt")
    #expect(try git("ls-files", "-v") == "H a.txt\nS b.txt\nh c.txt\n")
    let file = try #require(try IndexFile(ofRepositoryAt: repository.gitFolder))
    #expect(file.sparsePositions == [1])
    #expect(file.entries.map(\.skipsWorktree) == [false, true, false])
    #expect(try repository.readIndex().entries == file.entries)
    #expect(try IndexFile(entries: file.entries).entries == file.entries)
    // In the order of a folder that does not tell capital letters from small ones.
    #expect(try IndexFile(entries: file.entries.reversed()).entries == file.entries)

    var edit = IndexEdit(of: file)
    let first = file[0]
    edit.set(
      IndexEntry(
        path: first.path, mode: first.mode, id: first.id, status: first.status,
        skipsWorktree: true))
    var index = edit.finish()
    let tree = try index.makeTree { try repository.write(.tree, $0) }
    try index.write(to: repository)
    // What git is not to look at, a save has looked at.
    #expect(try git("ls-files", "-v") == "S a.txt\nS b.txt\nH c.txt\n")
    #expect(try git("write-tree") == tree.hex + "\n")

    let again = try #require(try IndexFile(ofRepositoryAt: repository.gitFolder))
    #expect(try again.isIntact() && again.sparsePositions == [0, 1])
    edit = IndexEdit(of: again)
    for entry in again.entries {
      edit.set(
        IndexEntry(path: entry.path, mode: entry.mode, id: entry.id, status: entry.status))
    }
    try edit.finish().write(to: repository)
    #expect(try git("ls-files", "-t") == "H a.txt\nH b.txt\nH c.txt\n")
    #expect(try git("status", "--porcelain") == "A  a.txt\nA  b.txt\nA  c.txt\n")
  }

  @Test("settings live in the repository's own file")
  func settings() throws {
    #expect(try repository.setting("notes.name") == nil)
    try repository.set("notes.name", to: "Home \"x\"")
    #expect(try repository.setting("notes.name") == "Home \"x\"")
    try repository.set("notes.name", to: nil)
    try repository.set("notes.name", to: nil)
    #expect(try repository.setting("notes.name") == nil)
  }

  @Test("names that differ only in their Unicode form are two paths")
  func paths() {
    let composed = TreePath("\u{e9}.txt")
    let decomposed = TreePath("e\u{301}.txt")
    #expect(composed != decomposed)
    #expect(TreePath(bytes: [0x61, 0xff]).utf8String == nil)
    #expect(TreePath("a/b/c").parent == "a/b")
    #expect(TreePath("a/b/c").name == "c")
    #expect(TreePath("").appending("x") == "x")
  }
}
