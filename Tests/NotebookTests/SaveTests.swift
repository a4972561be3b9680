import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

@Suite("Saving versions")
struct SaveTests {
  @Test("the first save versions what is there; the next finds nothing")
  func first() throws {
    let home = try Fixture()
    try home.write("Groceries.txt", "milk\n")
    try home.write("trips/Rome.txt", "forum\n")
    let saved = try home.notebook.save()
    #expect(saved.changes.map(\.path) == ["Groceries.txt", "trips/Rome.txt"])
    let version = try #require(saved.version)
    let commit = try home.notebook.repository.commit(version)
    #expect(commit.author.name == "Ada")
    #expect(commit.author.email == "adaid@notes.invalid")
    #expect(commit.message == "Add Groceries, Rome\n")
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.status().changes.isEmpty)
    #expect(try home.notebook.state().heads == [version])
  }

  @Test("who waits for a version has it before the branch moves, and before the index is written")
  func earlyNotice() throws {
    let home = try Fixture()
    try home.write("a.txt", "first")
    _ = try home.notebook.save()
    try home.write("a.txt", "second")
    let index = home.notebook.repository.gitFolder + "/index"
    let (tip, indexBefore) = (try home.notebook.state().tip, try readFile(index))
    var noticed: ObjectID?
    home.notebook.earlyNotice = { version in
      noticed = version
      #expect(throws: Never.self) { try home.notebook.repository.commit(version) }
      #expect(access(index + ".new", F_OK) != 0)
      #expect((try? readFile(index)) == indexBefore)
      #expect((try? home.notebook.state().tip) == tip)
    }
    let saved = try home.notebook.save().version
    #expect(saved != nil && noticed == saved)
    #expect(try readFile(index) != indexBefore)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("an empty folder makes no version")
  func empty() throws {
    let home = try Fixture()
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.state().tip == nil)
  }

  @Test("edits, deletions and a file that becomes a folder are versioned")
  func changes() throws {
    let home = try Fixture()
    for name in ["a.txt", "b.txt", "c"] { try home.write(name, name) }
    _ = try home.notebook.save()
    try home.write("a.txt", "changed")
    try home.remove("b.txt")
    try home.remove("c")
    try home.write("c/d.txt", "in a folder now")
    let status = try home.notebook.status()
    let saved = try home.notebook.save()
    #expect(
      saved.changes.map { "\($0.path) \($0.kind)" }
        == status.changes.map { "\($0.path) \($0.kind)" })
    let tree = try home.notebook.repository.commit(#require(saved.version)).tree
    #expect(try home.notebook.repository.files(in: tree).map(\.path) == ["a.txt", "c/d.txt"])
  }

  @Test("a change of the same size in the same instant is seen (racy-git rule)")
  func racy() throws {
    let home = try Fixture()
    for round in 0..<50 {
      try home.write("n.txt", "\(round % 10)")
      #expect(try home.notebook.save().version != nil, "round \(round)")
    }
  }

  @Test("save NOTE leaves other edits unsaved")
  func only() throws {
    let home = try Fixture()
    for name in ["a.txt", "b.txt", "f/c.txt"] { try home.write(name, "1") }
    _ = try home.notebook.save()
    for name in ["a.txt", "b.txt", "f/c.txt"] { try home.write(name, "22") }
    #expect(
      try home.notebook.save(only: ["f", "a.txt"]).changes.map(\.path) == ["a.txt", "f/c.txt"])
    #expect(try home.notebook.status().changes.map(\.path) == ["b.txt"])
  }

  @Test(
    "links, pipes and nested repositories are skipped by name; debris and ignored files silently")
  func skipped() throws {
    let home = try Fixture()
    try home.write("note.txt", "x")
    for debris in ["note.txt~", ".note.txt.swp", ".#note.txt", "#note.txt#", "4913", "x.tmp"] {
      try home.write(debris, "debris")
    }
    try home.write(".gitignore", "secret*\n")
    try home.write("secret.txt", "ignored")
    try home.write("project/.git/HEAD", "ref: refs/heads/main\n")
    #expect(symlink("note.txt", home.path + "/link.txt") == 0)
    #expect(mkfifo(home.path + "/pipe", 0o600) == 0)
    let saved = try home.notebook.save()
    #expect(saved.changes.map(\.path) == [".gitignore", "note.txt"])
    #expect(
      saved.skipped == [
        SkippedFile(path: "link.txt", reason: .symbolicLink),
        SkippedFile(path: "pipe", reason: .specialFile),
        SkippedFile(path: "project", reason: .nestedRepository),
      ])
  }

  @Test("a versioned file that becomes a link is not taken for deleted")
  func becomesLink() throws {
    let home = try Fixture()
    try home.write("a.txt", "kept")
    try home.write("b.txt", "b")
    _ = try home.notebook.save()
    try home.remove("a.txt")
    #expect(symlink("b.txt", home.path + "/a.txt") == 0)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("names that are not UTF-8, or differ only in their Unicode form, are versioned as they are")
  func names() throws {
    let home = try Fixture()
    let bytes: [UInt8] = Array(home.path.utf8) + [0x2f, 0x61, 0xff, 0x2e, 0x74, 0x78, 0x74, 0]
    let descriptor = open(
      bytes.map { CChar(bitPattern: $0) }, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    #expect(descriptor >= 0)
    close(descriptor)
    try home.write("\u{e9}.txt", "composed")
    try home.write("e\u{301}.txt", "decomposed")
    #expect(try home.notebook.save().changes.count == 3)
    #expect(try home.notebook.save().version == nil)
  }

  // A watcher is told of a new folder and of each file that is moved into it.
  @Test("a file that is named, and in a folder that is named, is versioned once")
  func namedTwice() throws {
    let home = try Fixture()
    for name in ["a.txt", "deep/b.txt", "deep/er/c.txt"] { try home.write(name, name) }
    let named: [TreePath] = ["deep", "deep/b.txt", "deep/er", "deep/er/c.txt", "a.txt"]
    #expect(try home.notebook.autosave(.only(Set(named)))?.changes.count == 3)
    for name in ["a.txt", "deep/d.txt", "deep/er/c.txt"] { try home.write(name, "two") }
    #expect(try home.notebook.save(only: named + ["deep/d.txt"]).changes.count == 3)
    let files = try run(["git", "ls-tree", "-r", "--name-only", "HEAD"], in: home.path)
    #expect(files.lines == ["a.txt", "deep/b.txt", "deep/d.txt", "deep/er/c.txt"], "\(files)")
    let check = try run(["git", "fsck", "--strict"], in: home.path)
    #expect(check.isSuccess, "\(check)")
  }

  /// notes-merge(7): "Every plain file in the folder is versioned, at any depth, except … files whose path
  /// no device accepts from another".
  @Test("names that no device takes are named and never versioned")
  func unfitNames() throws {
    let home = try Fixture()
    let deep = String(repeating: "d/", count: 64) + "x.txt"
    let unfit = ["line\nbreak.txt", "esc\u{1b}[2J/x.txt", "git~1", ".Git", "c1\u{85}.txt", deep]
    for name in unfit + ["fine.txt", String(repeating: "d/", count: 63) + "x.txt"] {
      try home.write(name, "text")
    }
    let saved = try home.notebook.save()
    #expect(saved.changes.count == 2)
    #expect(Set(saved.skipped.map(\.path.description)) == Set(unfit))
    #expect(try home.notebook.status().skipped.count == unfit.count)
    // A watcher is told of single files.
    try home.write("other\t.txt", "text")
    #expect(
      try home.notebook.autosave(.only(["other\t.txt"]))?.skipped.map(\.path) == ["other\t.txt"])
    // What is versioned, another device takes.
    let other = try home.clone(device: "Bob")
    #expect(try other.read("fine.txt") == "text")
    #expect(try home.notebook.save().version == nil)
  }

  @Test("a clock that stands anywhere makes versions that other devices take")
  func oddClocks() throws {
    for (seconds, offset) in [(Int64.min, 0), (-5, 1_440), (.max, -10_019)] {
      let home = try Fixture()
      home.notebook.clock = Clock { (seconds, offset) }
      try home.write("a.txt", "1")
      _ = try home.notebook.save()
      let other = try Fixture(device: "Bob")
      let heads = try home.notebook.state().heads
      let quarantine = try other.notebook.repository.quarantine()
      let pack = try home.notebook.repository.pack(wants: heads, haves: [])
      while let piece = try pack.next() { try quarantine.append(piece) }
      try quarantine.join(promised: heads)
    }
  }

  @Test("a hand-made git commit on top is taken as it is")
  func handMade() throws {
    let home = try Fixture()
    try home.write("a.txt", "1")
    let first = try #require(try home.notebook.save().version)
    let person = Signature(name: "P", email: "p@example.org", time: 1_800_000_000, offset: 0)
    let tree = try home.notebook.repository.write(
      tree: home.notebook.repository.commit(first).tree,
      replacing: [
        "b.txt": TreeEntry(
          name: "b.txt", mode: .regular,
          id: home.notebook.repository.write(blob: Array("by hand".utf8)))
      ])
    let made = try home.notebook.repository.write(
      commit: tree, parents: [first], author: person, committer: person, message: "by hand")
    // git would also have written the file and the index.
    try home.notebook.repository.update(
      reference: "refs/heads/main", to: made, from: first, message: "commit")
    try home.write("b.txt", "by hand")
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.state().heads == [made])
  }

  @Test("the size limit is notes.maxFileSize in .git/config; larger files are named")
  func sizeLimit() throws {
    let home = try Fixture()
    #expect(home.notebook.workTree.sizeLimit == 50 << 20)
    #expect(SizeLimit.parse("1g") == 1 << 30 && SizeLimit.parse("7") == 7)
    #expect(SizeLimit.parse("-1") == nil && SizeLimit.parse("k") == nil)
    #expect(SizeLimit.parse("99999999999g") == nil)
    try home.notebook.repository.set("notes.maxFileSize", to: "1g")
    #expect(try Notebook.open(at: home.path).workTree.sizeLimit == PackLimits.standard.objectBytes)
    try home.notebook.repository.set("notes.maxFileSize", to: "1k")
    try home.write("small.txt", String(repeating: "x", count: 1024))
    try home.write("large.txt", String(repeating: "x", count: 1025))
    let notebook = try Notebook.open(at: home.path)
    #expect(notebook.workTree.sizeLimit == 1024)
    let skipped = [SkippedFile(path: "large.txt", reason: .tooLarge(size: 1025))]
    #expect(try notebook.status().skipped == skipped)
    let saved = try notebook.save()
    #expect(saved.skipped == skipped && saved.changes.map(\.path) == ["small.txt"])
    // A versioned note that outgrows the limit stays as it was last versioned.
    try home.write("small.txt", String(repeating: "y", count: 2000))
    #expect(try notebook.save().version == nil)
  }
}
