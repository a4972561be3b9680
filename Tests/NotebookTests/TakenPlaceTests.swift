import Git
import Glibc
import History
import NotebookSupport
import State
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Notes that are left out of the folder": something that is not a file stands where a
/// note has to be.
@Suite("A note whose place is taken")
struct TakenPlaceTests {
  /// What can stand in the place of n.txt.
  enum Kind: CaseIterable {
    case danglingLink, linkToNote, pipe, repository, folderOfFolders, folderOfDebris

    var obstacle: Obstacle.Kind {
      switch self {
      case .danglingLink, .linkToNote: .symbolicLink
      case .pipe: .special
      case .repository: .repository
      case .folderOfFolders, .folderOfDebris: .folder
      }
    }

    func make(in fixture: Fixture) throws {
      let path = fixture.path + "/n.txt"
      switch self {
      case .danglingLink: #expect(symlink("nowhere.txt", path) == 0)
      case .linkToNote: #expect(symlink("a.txt", path) == 0)
      case .pipe: #expect(mkfifo(path, 0o600) == 0)
      case .repository: try fixture.write("n.txt/.git/HEAD", "ref: refs/heads/main\n")
      case .folderOfFolders: try makeFolder(path + "/deeper")
      case .folderOfDebris: try fixture.write("n.txt/backup~", "x\n")
      }
    }
  }

  private let home: Fixture

  init() throws {
    home = try Fixture()
    for name in ["a.txt", "b.txt"] { try home.write(name, name + "\n") }
    _ = try home.notebook.save()
  }

  /// What must hold while n.txt is left out of `bob`'s folder, and when its place is free.
  private func expectLeftOut(of bob: Fixture, _ kind: Kind, text: String) throws {
    let absent = try bob.notebook.workTree.absentFiles()
    #expect(
      absent.map(\.path) == ["n.txt"]
        && absent.first?.reason == .obstructed(by: Obstacle(path: "n.txt", kind: kind.obstacle)))
    #expect(try bob.notebook.status().skipped.contains { absent.contains($0) })
    #expect(try bob.notebook.workTree.text(of: "n.txt") == Array(text.utf8))
    // "It is not taken for deleted, and everything else goes on."
    try bob.write("b.txt", "edited while it is away\n")
    #expect(try bob.notebook.save().changes == [Change(path: "b.txt", kind: .modified)])
    try home.receive(from: bob)
    #expect(try home.read("n.txt") == text)
    #expect(try home.read("b.txt") == "edited while it is away\n")
    #expect(try !bob.notebook.status().isInterrupted)
    // "notes never follows a link".
    #expect(try bob.read("a.txt") == "a.txt\n")
    #expect(try bob.read("nowhere.txt") == nil)
    // "It comes when the place is free."
    try #require(rename(bob.path + "/n.txt", bob.path + "/.away.tmp") == 0)
    let status = try bob.notebook.status()
    #expect(status.skipped.contains(SkippedFile(path: "n.txt", reason: .waiting)))
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.read("n.txt") == text)
    #expect(try bob.notebook.workTree.absentFiles() == [])
    #expect(try bob.git(["ls-files", "-t", "n.txt"]) == "H n.txt\n")
  }

  @Test("a new note is left out, and the others come", arguments: Kind.allCases)
  func newNote(_ kind: Kind) throws {
    let bob = try home.clone(device: "Bob")
    try home.write("n.txt", "new\n")
    try home.write("other.txt", "other\n")
    _ = try home.notebook.save()
    try kind.make(in: bob)
    try bob.receive(from: home)
    #expect(try bob.read("other.txt") == "other\n")
    #expect(try bob.git(["ls-files", "-t", "n.txt"]) == "S n.txt\n")
    try expectLeftOut(of: bob, kind, text: "new\n")
  }

  @Test(
    "an edited note is left out where a person put something in its place",
    arguments: Kind.allCases)
  func edited(_ kind: Kind) throws {
    try home.write("n.txt", "old\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try home.write("n.txt", "new\n")
    try home.write("other.txt", "other\n")
    let target = try beginCheckout(in: bob, of: home)
    // Between a killed checkout and the next command.
    try bob.remove("n.txt")
    try kind.make(in: bob)
    _ = try bob.notebook.save()
    #expect(try bob.notebook.state().tip == target)
    #expect(try bob.read("other.txt") == "other\n")
    try expectLeftOut(of: bob, kind, text: "new\n")
  }

  /// "What a person puts in the place of a note … is no deletion either, but for a folder."
  @Test(
    "a save takes nothing for deleted that a link, a pipe or a repository hides",
    arguments: [Kind.danglingLink, .linkToNote, .pipe, .repository])
  func replaced(_ kind: Kind) throws {
    try home.write("n.txt", "text\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try bob.remove("n.txt")
    try kind.make(in: bob)
    #expect(try bob.notebook.autosave(.only(["n.txt"]))?.version == nil)
    #expect(try bob.git(["ls-files", "-t", "n.txt"]) == "S n.txt\n")
    try expectLeftOut(of: bob, kind, text: "text\n")
  }

  @Test("what is in a folder that became a link is left out, and nothing goes through the link")
  func linkedFolder() throws {
    try home.write("work/n.txt", "text\n")
    try home.write("work/gone.txt", "x\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    let outside = try Fixture(device: "outside")
    try #require(rename(bob.path + "/work", outside.path + "/work") == 0)
    try #require(symlink(outside.path + "/work", bob.path + "/work") == 0)
    #expect(try bob.notebook.autosave(.only(["work/n.txt"]))?.version == nil)
    #expect(try bob.notebook.save().version == nil)
    try home.write("work/n.txt", "changed\n")
    try home.remove("work/gone.txt")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try outside.read("work/n.txt") == "text\n")
    #expect(try outside.read("work/gone.txt") == "x\n")
    let link = Obstacle(path: "work", kind: .symbolicLink)
    #expect(
      try bob.notebook.workTree.absentFiles()
        == [SkippedFile(path: "work/n.txt", reason: .obstructed(by: link))])
    unlink(bob.path + "/work")
    #expect(try bob.notebook.autosave(.only(["work"]))?.version == nil)
    #expect(try bob.read("work/n.txt") == "changed\n")
  }

  @Test("what is written into a folder in a note's place waits; the note is not deleted by it")
  func filesInTheWay() throws {
    let bob = try home.clone(device: "Bob")
    try home.write("n.txt", "new\n")
    try home.write("folder/n.txt", "deeper\n")
    let target = try beginCheckout(in: bob, of: home)
    try bob.write("n.txt/mine.txt", "mine\n")
    try bob.write("folder", "a file\n")
    #expect(try bob.notebook.save().version == nil)
    #expect(try bob.notebook.state().tip == target)
    #expect(try bob.notebook.workTree.sparseFiles() == ["folder/n.txt", "n.txt"])
    #expect(try bob.notebook.autosave(.only(["n.txt/mine.txt", "folder"]))?.version == nil)
    // Under names of their own they are notes.
    try #require(rename(bob.path + "/n.txt", bob.path + "/mine") == 0)
    try #require(rename(bob.path + "/folder", bob.path + "/file") == 0)
    #expect(
      try bob.notebook.save().changes
        == [Change(path: "file", kind: .added), Change(path: "mine/mine.txt", kind: .added)])
    #expect(try bob.read("n.txt") == "new\n")
    #expect(try bob.read("folder/n.txt") == "deeper\n")
  }

  /// "If the old entry is not a file, the checkout puts it back": a link that appeared at the moment of the
  /// swap.
  @Test("a link that was swapped out by a run that was killed then is put back")
  func swappedOut() throws {
    try home.write("n.txt", "old\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try home.write("n.txt", "new\n")
    _ = try beginCheckout(in: bob, of: home)
    let staged = bob.notebook.stateFolder[.checkout] + "/0"
    try #require(rename(staged, bob.path + "/n.txt") == 0)
    try #require(symlink("a.txt", staged) == 0)
    _ = try bob.notebook.save()
    try expectLeftOut(of: bob, .linkToNote, text: "new\n")
  }

  @Test("the executable bit of a link's target stays")
  func mode() throws {
    try home.write("n.txt", "text\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    chmod(home.path + "/n.txt", 0o755)
    _ = try beginCheckout(in: bob, of: home)
    try bob.remove("n.txt")
    try Kind.linkToNote.make(in: bob)
    _ = try bob.notebook.save()
    #expect(access(bob.path + "/a.txt", X_OK) != 0)
    try expectLeftOut(of: bob, .linkToNote, text: "text\n")
  }

  /// Saves `home` and begins to bring `other` to that version, as a process does that is killed before
  /// its first step. Returns the version.
  private func beginCheckout(in other: Fixture, of home: Fixture) throws -> ObjectID {
    let target = try #require(try home.notebook.save().version)
    try other.copyObjects(from: home)
    let notebook = other.notebook
    let journal = CheckoutJournal(from: try notebook.repository.head().commit, to: target)
    try Checkout(
      in: notebook.workTree, plan: journal.plan(in: notebook.repository), journal: journal
    ).stage()
    return target
  }
}
