import Glibc
import TestSupport
import Testing

@testable import Git

@Suite("Git: objects and references written without libgit2")
struct ObjectFileTests {
  let scratch = Scratch()
  let repository: Repository

  init() throws { repository = try Repository.create(at: scratch.path) }

  private func git(_ words: String...) throws -> String {
    let result = try run(["git", "-C", scratch.path] + words)
    #expect(result.isSuccess, "git \(words): \(result.errorText)")
    return result.text
  }

  private func commit(_ parents: [ObjectID] = [], _ message: String = "m\n") throws -> ObjectID {
    try repository.write(
      commit: repository.write(tree: []), parents: parents, author: tester,
      committer: tester, message: message)
  }

  private func file(of id: ObjectID) -> String { repository.loose.path(of: id) }

  @Test("text is hashed here as libgit2 hashes it; everything else goes to libgit2")
  func hashing() throws {
    var random = SplitMix64.reported()
    let texts = [
      "", "\n", "plain text\r\n\t", "f\u{fc}r \u{1F4D3}", String(repeating: "x", count: 119),
    ]
    for text in texts { #expect(ObjectID.isText(Array(text.utf8)), "\(text)") }
    for bytes in [[0], [0xff], [0xc3], [0x7f], Array("a\u{1b}[1m".utf8), [0xed, 0xa0, 0x80]]
      as [[UInt8]]
    {
      #expect(!ObjectID.isText(bytes), "\(bytes)")
    }
    for length in 0..<200 {
      let content = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      for kind in [ObjectKind.blob, .tree, .commit] {
        #expect(try ObjectID.plain(kind, content) == (Libgit2.shared.get().id(of: kind, content)))
      }
    }
  }

  @Test("pieces of any size come to one checksum")
  func checksumInPieces() throws {
    var random = SplitMix64.reported()
    for _ in 0..<50 {
      let content = (0..<Int.random(in: 0..<700, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      let whole = try SHA1()
      whole.update(content)
      let pieces = try SHA1()
      var rest = content[...]
      while !rest.isEmpty {
        let count = Int.random(in: 0...min(200, rest.count), using: &random)
        pieces.update(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(try whole.finish() == pieces.finish())
    }
  }

  @Test("git reads a large folder's tree")
  func largeTree() throws {
    let blob = try repository.write(blob: Array("x\n".utf8))
    var tree: ObjectID?
    try repository.withBatchedWrites {
      tree = try repository.write(
        tree: (0..<500).map { TreeEntry(name: TreePath("\($0).txt"), mode: .regular, id: blob) })
    }
    let id = try #require(tree)
    #expect(try git("ls-tree", id.hex).split(separator: "\n").count == 500)
    _ = try git("fsck", "--strict")
  }

  @Test("objects count when all of them are on the disk, and git reads them")
  func together() throws {
    for count in [3, 40] {
      var ids: [ObjectID] = []
      try repository.withBatchedWrites {
        for number in 0..<count {
          let id = try repository.write(blob: Array("\(count): note \(number)\n".utf8))
          #expect(try repository.contains(id) && repository.header(of: id).kind == .blob)
          #expect(try repository.blob(id) == Array("\(count): note \(number)\n".utf8))
          #expect(access(file(of: id), F_OK) != 0)
          ids.append(id)
        }
      }
      for (number, id) in ids.enumerated() {
        #expect(try git("cat-file", "-p", id.hex) == "\(count): note \(number)\n")
      }
    }
    #expect(try git("count-objects", "-v").contains("garbage: 0"))
  }

  @Test("git packs what is stored once more, and removes its folder")
  func packedMeanwhile() throws {
    let text = Array("a text\n".utf8)
    let blob = try repository.write(blob: text)
    let tree = try repository.write(tree: [TreeEntry(name: "n.txt", mode: .regular, id: blob)])
    let commit = try repository.write(
      commit: tree, parents: [], author: tester, committer: tester, message: "m\n")
    _ = try git("update-ref", "refs/heads/main", commit.hex)
    try repository.withBatchedWrites(isBeforeMove: true) {
      #expect(try repository.write(blob: text) == blob)
      _ = try git("repack", "-adq")
      #expect(access(String(file(of: blob).dropLast(39)), F_OK) != 0)
    }
    try repository.syncPendingObjects()
    #expect(try repository.blob(blob) == text)
  }

  @Test("where an object cannot be put in its place, none is there that names it")
  func inOrder() throws {
    let blob = try ObjectID.digest(ofBlob: Array("a text\n".utf8))
    let entry = TreeEntry(name: "n.txt", mode: .regular, id: blob)
    let elsewhere = Scratch()
    let other = try Repository.create(at: elsewhere.path).write(tree: [entry])
    // A folder in the place of the tree's file.
    try makeFolder(file(of: other) + "/in the way")
    var commit: ObjectID?
    #expect {
      try repository.withBatchedWrites {
        _ = try repository.write(blob: Array("a text\n".utf8))
        let tree = try repository.write(tree: [entry])
        #expect(tree == other)
        commit = try repository.write(
          commit: tree, parents: [], author: tester, committer: tester, message: "m\n")
      }
    } throws: {
      guard case GitError.system("rename", _, EISDIR) = $0 else { return false }
      return true
    }
    // Whoever finds it takes it for one with all that it names.
    #expect(try !repository.contains(#require(commit)))
  }

  @Test("what fails leaves no object and no file")
  func failing() throws {
    struct Failure: Error {}
    var id = ObjectID.zero
    #expect(throws: Failure.self) {
      try repository.withBatchedWrites {
        id = try repository.write(blob: Array("gone\n".utf8))
        throw Failure()
      }
    }
    #expect(try !repository.contains(id))
    #expect(try git("count-objects", "-v").contains("garbage: 0"))
  }

  @Test("an object file that a power cut left empty or torn is written again")
  func damaged() throws {
    let content = Array("text that is stored twice\n".utf8)
    let id = try repository.write(blob: content)
    let whole = try readFile(file(of: id))
    for damage in [[], Array(whole.prefix(5)), Array(whole.reversed())] {
      chmod(file(of: id), 0o644)
      try writeFile(file(of: id), damage)
      #expect(try repository.withBatchedWrites { try repository.write(blob: content) } == id)
      #expect(try readFile(file(of: id)) == whole)
    }
    #expect(try git("fsck", "--strict", "--no-dangling") == "")
  }

  @Test("a new repository is set up as git sets one up")
  func creation() throws {
    let theirs = Scratch()
    try #require(try run(["git", "init", "-q", "-b", "main", theirs.path]).isSuccess)
    func settings(_ folder: String) throws -> [String] {
      try run(["git", "-C", folder, "config", "--local", "--list"]).text.split(separator: "\n")
        .map(String.init).sorted()
    }
    #expect(try settings(scratch.path) == settings(theirs.path))
    #expect(try readFile(scratch.path + "/.git/HEAD") == readFile(theirs.path + "/.git/HEAD"))
    #expect(try git("status", "--porcelain=2", "--branch").contains("branch.head main"))
    #expect(access(scratch.path + "/.git.new", F_OK) != 0)
    #expect(repository.opened == nil)
    // One that is there stays as it is.
    try writeFile(theirs.path + "/.git/description", Array("theirs".utf8))
    _ = try Repository.create(at: theirs.path, branch: "other")
    #expect(try readFile(theirs.path + "/.git/description") == Array("theirs".utf8))
    #expect(try Repository.open(at: theirs.path).head().branch == "main")
  }

  @Test("a branch moves with entries in both logs, whether its file is there or packed")
  func branch() throws {
    repository.identity = ("Ada <of> London\n", "ada@example.org")
    let first = try commit()
    try repository.update(reference: "refs/heads/main", to: first, from: nil, message: "one")
    #expect(repository.opened == nil)
    #expect(try git("log", "-g", "--format=%H %gn %gs") == "\(first) Ada of London one\n")
    #expect(throws: GitError.self) {
      try repository.update(reference: "refs/heads/main", to: first, from: nil, message: "again")
    }
    var last = first
    for round in 0..<4 {
      if round == 2 { _ = try git("pack-refs", "--all") }
      // Libgit2 is not asked: a new instance has not opened it afterwards.
      let fresh = try Repository.open(at: scratch.path)
      fresh.identity = repository.identity
      #expect(try fresh.head() == Head(reference: "refs/heads/main", commit: last))
      let next = try commit([last], "\(round)\n")
      try fresh.update(
        reference: "refs/heads/main", to: next, from: last, message: "notes: save \(round)")
      #expect(fresh.opened == nil)
      #expect(try git("rev-parse", "HEAD") == "\(next)\n")
      for name in ["HEAD", "main"] {
        #expect(
          try git("reflog", "-1", "--format=%H %gn %ge %gs", name)
            == "\(next) Ada of London ada@example.org notes: save \(round)\n")
      }
      last = next
    }
    #expect(try git("reflog", "main").split(separator: "\n").count == 5)
    #expect(try git("fsck", "--strict", "--no-dangling") == "")
  }

  @Test("a lock that comes and goes is left alone, however old the clock says it is")
  func locksOfOthers() throws {
    repository.identity = ("Ada", "ada@example.org")
    let first = try commit()
    try repository.update(reference: "refs/heads/main", to: first, from: nil, message: "one")
    let second = try commit([first])
    let lock = scratch.path + "/.git/refs/heads/main.lock"
    let wasTaken = EventLog<Bool>()
    let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    try writeFile(lock, [])
    startThread {
      // Another program's locks, one after the other, with the times of a clock that is wrong.
      for _ in 0..<10_000 {
        utimensat(AT_FDCWD, lock, [old, old], 0)
        if unlink(lock) != 0 { return wasTaken.append(true) }
        let next = open(lock, O_WRONLY | O_CREAT | O_EXCL, 0o666)
        if next < 0 { return wasTaken.append(false) }
        close(next)
      }
      wasTaken.append(unlink(lock) != 0)
    }
    try repository.update(reference: "refs/heads/main", to: second, from: first, message: "two")
    #expect(wasTaken.wait { !$0.isEmpty } && wasTaken.all == [false])
  }

  @Test("a branch that stands elsewhere, or whose lock somebody holds, is not moved")
  func moved() throws {
    repository.identity = ("Ada", "ada@example.org")
    let first = try commit()
    let second = try commit([first])
    try repository.update(reference: "refs/heads/main", to: first, from: nil, message: "one")
    let log = try readFile(scratch.path + "/.git/logs/HEAD")
    let lock = scratch.path + "/.git/refs/heads/main.lock"
    for expected in [second, ObjectID.zero] {
      do {
        try repository.update(
          reference: "refs/heads/main", to: second, from: expected, message: "two")
        Issue.record("it was moved")
      } catch GitError.referenceMoved(let name) {
        #expect(name == "refs/heads/main" && access(lock, F_OK) != 0)
      }
    }
    try writeFile(lock, [])
    #expect(throws: GitError.self) {
      try repository.update(reference: "refs/heads/main", to: second, from: first, message: "two")
    }
    #expect(access(lock, F_OK) == 0)
    #expect(try readFile(scratch.path + "/.git/logs/HEAD") == log)
    #expect(try repository.head().commit == first)
  }

  @Test("a repository that several users write to is refused, one that keeps no logs is not")
  func form() throws {
    let plain = try readFile(repository.gitFolder + "/config")
    for (text, isTaken) in [
      ("[core]\n\tlogAllRefUpdates = true\n", true),
      ("[core]\n\tlogallrefupdates = false\n", true),
      ("[core]\n sharedRepository = group", false), ("[core]\nsharedrepository\n", false),
      ("[core]\n sharedRepository = 0660", false), ("[core]\n sharedRepository = umask", true),
      ("[core]\n sharedRepository = false", true),
      ("[include]\n\tpath = x\n", true), ("[notes]\n\tname = x\n", true),
    ] {
      try writeFile(repository.gitFolder + "/config", plain + Array(text.utf8))
      if isTaken {
        _ = try Repository.open(at: scratch.path)
      } else {
        #expect(throws: GitError.self, "\(text)") { try Repository.open(at: scratch.path) }
      }
    }
    try writeFile(repository.gitFolder + "/config", plain)
    try writeFile(repository.gitFolder + "/commondir", Array("../other\n".utf8))
    #expect(throws: GitError.self) { try Repository.open(at: scratch.path) }
  }

  @Test("a symbolic reference stands where the one does that it names; a ring of them is an error")
  func symbolic() throws {
    let id = try repository.write(blob: [1])
    let folder = repository.gitFolder + "/refs/remotes/origin"
    try makeFolder(folder)
    try writeFile(folder + "/main", Array("\(id)\n".utf8))
    try writeFile(folder + "/HEAD", Array("ref: refs/remotes/origin/main\n".utf8))
    #expect(try repository.reference("refs/remotes/origin/HEAD") == id)
    try writeFile(folder + "/a", Array("ref: refs/remotes/origin/b\n".utf8))
    try writeFile(folder + "/b", Array("ref: refs/remotes/origin/a\n".utf8))
    #expect(throws: GitError.self) { try repository.reference("refs/remotes/origin/a") }
  }
}
