import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-security(7): what a device keeps back is not sent, whoever else uses its path.
@Suite("What a device keeps back, and another writer's note of that name")
struct KeptBackTests {
  /// Why a file of this device is in no version.
  enum Kind: CaseIterable {
    case ignored, excluded, hidden, hiddenFolder, debris, tooLarge, repository, bareRepository

    var path: String {
      switch self {
      case .ignored, .excluded: "diary.txt"
      case .hidden: ".secret.md"
      case .hiddenFolder: ".obsidian/workspace.json"
      case .debris: "draft.txt~"
      case .tooLarge: "large.md"
      case .repository: "work/n.txt"
      case .bareRepository: "hub/description"
      }
    }

    var obstacle: Obstacle {
      switch self {
      case .ignored, .excluded: Obstacle(path: TreePath(path), kind: .ignored)
      case .hidden, .hiddenFolder: Obstacle(path: TreePath(path), kind: .hidden)
      case .debris: Obstacle(path: TreePath(path), kind: .debris)
      case .tooLarge: Obstacle(path: TreePath(path), kind: .tooLarge)
      case .repository: Obstacle(path: "work", kind: .repository)
      case .bareRepository: Obstacle(path: "hub", kind: .repository)
      }
    }

    var text: String { self == .tooLarge ? String(repeating: "mine\n", count: 300) : "mine\n" }

    func prepare(_ bob: Fixture) throws {
      switch self {
      case .ignored: try bob.write(".gitignore", "diary.txt\n")
      case .excluded: try bob.write(".git/info/exclude", "diary.txt\n")
      case .hidden, .hiddenFolder, .debris: break
      case .tooLarge: try bob.notebook.setSizeLimit("1k")
      case .repository: try bob.write("work/.git/HEAD", "ref: refs/heads/main\n")
      case .bareRepository:
        for name in ["HEAD", "objects/x", "refs/x"] { try bob.write("hub/" + name, "x\n") }
      }
      try bob.write(path, text)
    }
  }

  private func isInHistory(_ text: String, of fixture: Fixture) throws -> Bool {
    let id = try fixture.notebook.repository.hash(blob: Array(text.utf8))
    return try fixture.notebook.repository.contains(id)
  }

  /// Ada commits a file with git, which versions hidden files and debris, too.
  private func commit(_ path: String, _ text: String, in home: Fixture) throws {
    try home.write(path, text)
    _ = try home.git(["add", "-f", path])
    _ = try home.git(["commit", "-qm", "by hand"])
    _ = try home.notebook.save()
  }

  @Test(
    "it stays as it is and in no version; the note waits and is named", arguments: Kind.allCases)
  func kinds(_ kind: Kind) throws {
    let home = try Fixture()
    try home.write("first.txt", "first\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try kind.prepare(bob)
    _ = try bob.notebook.save()
    #expect(try !isInHistory(kind.text, of: bob))
    for text in ["theirs\n", "theirs, changed\n"] {
      try commit(kind.path, text, in: home)
      try home.write("other.txt", text)
      _ = try home.notebook.save()
      try bob.receive(from: home)
      #expect(try bob.read(kind.path) == kind.text)
      #expect(try bob.read("other.txt") == text)
      for scope in [SaveScope.everything, .only([TreePath(kind.path)]), .allBut([])] {
        #expect(try bob.notebook.autosave(scope)?.version == nil)
      }
      #expect(try !isInHistory(kind.text, of: bob))
      let waiting = SkippedFile(
        path: TreePath(kind.path), reason: .obstructed(by: kind.obstacle))
      #expect(try bob.notebook.workTree.absentFiles() == [waiting])
      #expect(try bob.notebook.status().skipped.filter(\.reason.isVersioned) == [waiting])
      #expect(try bob.notebook.status().changes.isEmpty)
      #expect(try bob.notebook.workTree.text(of: TreePath(kind.path)) == Array(text.utf8))
    }
    // Neither does a lost index, or a lost memory, publish it.
    unlink(bob.path + "/.git/index")
    #expect(try bob.notebook.save().version == nil)
    unlink(bob.path + "/.git/notes/waiting")
    #expect(try bob.notebook.save().version == nil)
    #expect(try !isInHistory(kind.text, of: bob))
    #expect(try bob.read(kind.path) == kind.text)
    // What the others do with theirs goes on, and a free place is taken.
    try #require(rename("\(bob.path)/\(kind.path)", bob.path + "-away") == 0)
    defer { unlink(bob.path + "-away") }
    if kind == .repository || kind == .bareRepository { return }
    _ = try bob.notebook.save()
    #expect(try bob.read(kind.path) == "theirs, changed\n")
    #expect(try bob.notebook.workTree.absentFiles() == [])
  }

  @Test("a versioned file that grew over the limit is kept when another edits it, or deletes it")
  func grown() throws {
    let home = try Fixture()
    for name in ["edited.md", "deleted.md"] { try home.write(name, "small\n") }
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try bob.notebook.setSizeLimit("1k")
    let large = String(repeating: "mine\n", count: 300)
    for name in ["edited.md", "deleted.md"] { try bob.write(name, large) }
    try home.write("edited.md", "small, changed\n")
    try home.remove("deleted.md")
    _ = try home.notebook.save()
    _ = try bob.notebook.save()
    try bob.receive(from: home)
    _ = try bob.notebook.save()
    #expect(try !isInHistory(large, of: bob))
    for name in ["edited.md", "deleted.md"] { #expect(try bob.read(name) == large) }
    // Cut down again, it is an edit of the text that it was made from.
    try bob.write("edited.md", "small\nand mine\n")
    _ = try bob.notebook.save()
    #expect(try bob.read("edited.md")?.contains("and mine") == true)
    #expect(try bob.read("edited.md")?.contains("changed") == true)
  }

  @Test("what is not kept back any more is merged with the note that came")
  func released() throws {
    let home = try Fixture()
    try home.write("first.txt", "first\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try Kind.excluded.prepare(bob)
    _ = try bob.notebook.save()
    try home.write("diary.txt", "theirs\n")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    try bob.write(".git/info/exclude", "")
    _ = try bob.notebook.save()
    let text = try #require(try bob.read("diary.txt"))
    #expect(text.contains("mine") && text.contains("theirs"))
    #expect(try bob.notebook.workTree.absentFiles() == [])
    try home.receive(from: bob)
    #expect(try home.read("diary.txt") == text)
  }

  @Test("a search finds nothing in it")
  func search() throws {
    let home = try Fixture()
    try home.write("first.txt", "first\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try Kind.excluded.prepare(bob)
    try home.write("diary.txt", "theirs\n")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try bob.notebook.history.search(SearchQuery(["mine"])).isEmpty)
  }

  // notes-merge(7): "A command that makes a version of such a note warns that it is not in the folder."
  @Test(
    "a restore, an undo and a redo of a note whose place is taken say so", arguments: [Kind.ignored]
  )
  func told(of kind: Kind) throws {
    let home = try Fixture()
    try home.write(kind.path, "versioned\n")
    _ = try home.notebook.save()
    let former = try #require(try home.notebook.state().tip)
    _ = try home.notebook.delete([TreePath(kind.path)])
    try kind.prepare(home)
    _ = try home.notebook.save()
    var told: [SaveNews] = []
    home.notebook.saveNotice = { told.append($0) }
    let version = try home.notebook.repository.commit(former)
    _ = try home.notebook.restore(TreePath(kind.path), from: version)
    #expect(told.map(\.path) == [TreePath(kind.path)] && told.allSatisfy { $0.kind == .waits })
    _ = try home.notebook.undo()
    #expect(told.count == 1)
    _ = try home.notebook.redo()
    #expect(told.count == 2 && told.last?.kind == .waits)
    #expect(try home.read(kind.path) == kind.text)
    #expect(try !isInHistory(kind.text, of: home))
  }
}
