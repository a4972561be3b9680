import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Files that are not versioned": a repository is known by its form.
@Suite("A bare repository in a notebook")
struct RepositoryInsideTests {
  private let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "a\n")
    _ = try home.notebook.save()
  }

  @Test("nothing of it is versioned, however it is looked at")
  func bare() throws {
    _ = try home.git(["init", "-q", "--bare", home.path + "/backup/hub.git"])
    _ = try home.git(["push", "-q", home.path + "/backup/hub.git", "HEAD:main"])
    let scopes: [SaveScope] = [
      .everything, .only(["backup/hub.git/refs/heads/main"]), .only(["backup"]),
      .only(["backup/hub.git/objects"]), .allBut([]),
    ]
    for scope in scopes { #expect(try home.notebook.autosave(scope)?.version == nil) }
    #expect(
      try home.notebook.status().skipped
        == [SkippedFile(path: "backup/hub.git", reason: .nestedRepository)])
    #expect(
      try home.notebook.workTree.versionedFolders(below: "backup/hub.git/objects").isEmpty)
    // Beside it all is as ever.
    try home.write("backup/mine.txt", "mine\n")
    #expect(
      try home.notebook.save().changes == [Change(path: "backup/mine.txt", kind: .added)])
  }

  @Test(
    "it is known while git makes it, and while it is removed",
    arguments: [
      ["HEAD", "refs/heads/x", "config"], ["hooks/a.sample", "info/exclude", "description"],
      ["objects/pack/a.pack", "refs/heads/x", "config"], ["HEAD", "objects/aa/b", "packed-refs"],
      ["HEAD", "objects/aa/b", "refs/heads/x"],
      ["HEAD", "refs/heads", "reftable/x", "objects/x", "config"],
      ["notes.txt", ".git"], ["notes.txt", ".jj/repo/x"], ["notes.txt", ".hg/store"],
      ["notes.txt", ".svn/wc.db"], ["notes.txt", ".bzr/README"], ["notes.txt", ".pijul/config"],
      ["notes.txt", "_darcs/format"], ["notes.txt", ".fslckout"], ["notes.txt", "_FOSSIL_"],
      ["config", "data/00/x", "index/x", "keys/x", "snapshots/x"],
      ["data/00/x", "index/x", "keys/x", "snapshots/x"],
      ["config/manifest", "data/00/x", "keys/x", "archives/x", "locks/x"],
      ["kopia.repository.f", "p01/x.f"], ["a.txt", "rdiff-backup-data/x.data"],
    ])
  func parts(names: [String]) throws {
    for name in names { try home.write("x/" + name, "x\n") }
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.autosave(.only([TreePath("x/" + names[0])]))?.version == nil)
  }

  @Test("folders of notes that share a name with git's are no repository")
  func notes() throws {
    for name in ["objects/lamp.txt", "refs/papers.txt", "info/x.txt"] {
      try home.write("work/" + name, "x\n")
    }
    #expect(try home.notebook.save().changes.count == 3)
    for name in ["README", "config", "data/x.txt", "index", "keys/home.txt"] {
      try home.write("project/" + name, "x\n")
    }
    #expect(try home.notebook.save().changes.count == 5)
  }

  @Test("a backup of Borg's is known by what its configuration begins with")
  func borg() throws {
    try home.write("borg/README", "This is a Borg Backup repository.\n")
    try home.write("borg/data/0/1", "x\n")
    try home.write("borg/config", "[repository]\nversion = 1\n")
    #expect(try home.notebook.save().version == nil)
    #expect(try home.notebook.autosave(.only(["borg/data/0/1"]))?.version == nil)
    #expect(
      try home.notebook.status().skipped == [SkippedFile(path: "borg", reason: .nestedRepository)])
  }

  @Test("a place is in the notebook whatever it is called")
  func places() throws {
    let (notebook, path) = (home.notebook, home.path)
    try makeFolder(path + "/sub")
    let link = path + "-link"
    try #require(symlink(path + "/sub", link) == 0)
    let dangling = path + "-dangling"
    try #require(symlink(path + "/not/there", dangling) == 0)
    defer {
      unlink(link)
      unlink(dangling)
    }
    for place in [
      "", "/", "/.git", "/new.git", "/sub/../new", "/a/b/c", "/none/../new",
      "/../none/../\(path.split(separator: "/").last ?? "")/x", "-link", "-link/hub.git",
      "-dangling",
      "/../\(path.split(separator: "/").last ?? "")/x",
    ] {
      #expect(notebook.contains(place: path + place), "\(place)")
    }
    for place in ["-other", "/../x", "-other/a/b"] {
      #expect(!notebook.contains(place: path + place), "\(place)")
    }
    for place in [path, path + "/hub.git", link + "/hub.git"] {
      #expect(throws: HubDefect.inNotebook(place)) {
        try notebook.add(Hub(name: "hub", url: place))
      }
    }
    #expect(try notebook.hubs() == [])
  }
}
