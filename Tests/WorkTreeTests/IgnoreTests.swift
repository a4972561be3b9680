import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Files that are not versioned": what leaves a note out.
@Suite("Ignore files, and who agreed to them")
struct IgnoreTests {
  private func versioned(_ home: Fixture) throws -> Set<String> {
    Set(try home.git(["ls-files"]).split(separator: "\n").map(String.init))
  }

  /// Two devices, of which the second has what the first has saved.
  private func devices() throws -> (Fixture, Fixture) {
    let ada = try Fixture()
    try ada.write("first.txt", "first\n")
    _ = try ada.notebook.save()
    return (ada, try ada.clone(device: "Bob"))
  }

  // "A note is left out only by … what this device agreed to".
  @Test("a .gitignore of another device leaves out files, and no note")
  func fromElsewhere() throws {
    let (ada, bob) = try devices()
    let text = "*\n!.gitignore\nattic/\n"
    try bob.write(".gitignore", text)
    try bob.write("hidden.txt", "hidden\n")
    _ = try bob.notebook.save()
    #expect(try versioned(bob) == [".gitignore", "first.txt"])
    try ada.receive(from: bob)
    #expect(try ada.read(".gitignore") == text)
    for name in ["note.txt", "note.md", "picture.png"] { try ada.write(name, "new\n") }
    _ = try run(["mkdir", ada.path + "/attic"])
    try ada.write("attic/old.txt", "old\n")
    try ada.write("attic/old.png", "old\n")
    // Nothing is waiting that a save would not take, and nothing is silent about what it takes.
    let status = try ada.notebook.status()
    #expect(status.changes.map(\.path) == ["attic/old.txt", "note.md", "note.txt"])
    #expect(status.ignoredNotes == 0)
    _ = try ada.notebook.save()
    let all: Set = [".gitignore", "attic/old.txt", "first.txt", "note.md", "note.txt"]
    #expect(try versioned(ada) == all)
    // What a watcher is told of is looked at alike, and so is what a search finds.
    try ada.write("told.txt", "told\n")
    _ = try ada.notebook.autosave(.only(["told.txt"]))
    #expect(try versioned(ada).contains("told.txt"))
    #expect(try ada.notebook.workTree.versionedFolders().contains("attic"))
  }

  // "… it agrees … to one that is named to a save".
  @Test("a device agrees to another's by naming it, and to its own by writing it")
  func agreement() throws {
    let (ada, bob) = try devices()
    try ada.write(".gitignore", "private.txt\ndrafts/\n")
    try ada.write("private.txt", "mine\n")
    _ = try run(["mkdir", ada.path + "/drafts"])
    try ada.write("drafts/plan.txt", "mine\n")
    // Written in the same moment as what it names.
    #expect(try ada.notebook.status().changes.map(\.path) == [".gitignore"])
    _ = try ada.notebook.save()
    #expect(try versioned(ada) == [".gitignore", "first.txt"])
    #expect(try ada.notebook.status().ignoredNotes == 2)

    try bob.receive(from: ada)
    try bob.write("private.txt", "Bob's\n")
    #expect(try bob.notebook.status().changes.map(\.path) == ["private.txt"])
    _ = try bob.notebook.save(only: [".gitignore"])
    #expect(try bob.notebook.status().changes.isEmpty)
    #expect(try bob.notebook.status().ignoredNotes == 1)
    _ = try bob.notebook.save()
    #expect(try versioned(bob) == [".gitignore", "first.txt"])
  }

  // "However others change the ignore file, the device's copy … continues to exclude the same files."
  @Test("nobody else has sent what this device leaves out")
  func changedElsewhere() throws {
    let (ada, bob) = try devices()
    try ada.write(".gitignore", "private.txt\n*.key\n")
    try ada.write("private.txt", "mine\n")
    try ada.write("door.key", "mine\n")
    _ = try ada.notebook.save()
    try bob.receive(from: ada)
    for text in ["", nil] as [String?] {
      if let text { try bob.write(".gitignore", text) } else { try bob.remove(".gitignore") }
      _ = try bob.notebook.save()
      try ada.receive(from: bob)
      #expect(try ada.read(".gitignore") == text)
      _ = try ada.notebook.save()
      #expect(try versioned(ada).isDisjoint(with: ["private.txt", "door.key"]))
      #expect(try ada.notebook.status().ignoredNotes == 1)
    }
    // It takes its agreement back as it gave it.
    try ada.write(".gitignore", "# nothing\n")
    _ = try ada.notebook.save()
    #expect(try versioned(ada).isSuperset(of: ["private.txt", "door.key"]))
  }

  // "Those that were there when …"
  @Test("in a notebook without a record of it, what is there is agreed to")
  func former() throws {
    let (ada, bob) = try devices()
    try bob.write(".gitignore", "private.txt\n")
    _ = try bob.notebook.save()
    try ada.receive(from: bob)
    _ = try run(["rm", "-r", ada.path + "/.git/notes/ignore"])
    try ada.write("private.txt", "mine\n")
    #expect(try ada.notebook.status().changes.isEmpty)
    _ = try ada.notebook.save()
    #expect(try !versioned(ada).contains("private.txt"))
  }

  @Test("what .git/info/exclude names is left out here as ever")
  func exclude() throws {
    let (ada, _) = try devices()
    try ada.write(".git/info/exclude", "private.txt\n")
    try ada.write("private.txt", "mine\n")
    _ = try ada.notebook.save()
    #expect(try versioned(ada) == ["first.txt"])
    #expect(try ada.notebook.status().ignoredNotes == 1)
  }

  @Test(
    "a FIFO in the place of a file of rules holds nothing up",
    .timeLimit(.minutes(2)), arguments: [".gitignore", ".gitattributes"], ["", "sub/"])
  func fifo(name: String, folder: String) throws {
    let fixture = try Fixture()
    try fixture.write("sub/a.txt", "a\n")
    _ = try fixture.notebook.save()
    let path = fixture.path + "/" + folder + name
    try #require(mkfifo(path, 0o600) == 0)
    try fixture.write("sub/b.txt", "b\n")
    #expect(try fixture.notebook.status().changes.map(\.path) == ["sub/b.txt"])
    #expect(try fixture.notebook.save().changes.map(\.path) == ["sub/b.txt"])
    unlink(path)
    try fixture.write("sub/.gitignore", "c.txt\n")
    _ = try fixture.notebook.save()
    // What this device agreed to holds on.
    unlink(fixture.path + "/sub/.gitignore")
    try #require(mkfifo(fixture.path + "/sub/.gitignore", 0o600) == 0)
    try fixture.write("sub/c.txt", "c\n")
    #expect(try !fixture.notebook.save().changes.map(\.path).contains("sub/c.txt"))
  }

  @Test(
    "where no file of rules is, but something else, there are no rules to begin with",
    arguments: [".gitignore", ".gitattributes"], ["", "sub/"])
  func noPlainFile(name: String, folder: String) throws {
    let fixture = try Fixture()
    try fixture.write("sub/a.txt", "a\n")
    let path = fixture.path + "/" + folder + name
    for make in [
      { mkfifo(path, 0o600) }, { symlink("/etc/hostname", path) }, { symlink("nowhere", path) },
    ] {
      try #require(make() == 0)
      for agreed in ["ignore", "attributes"] {
        _ = try TestSupport.run(["rm", "-rf", fixture.path + "/.git/notes/" + agreed])
      }
      try fixture.notebook.workTree.beginAgreements()
      unlink(path)
    }
    #expect(try fixture.notebook.save().changes.map(\.path) == ["sub/a.txt"])
  }
}
