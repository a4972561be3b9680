import FoundationEssentials
import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import Rewriting
@testable import WorkTree

/// notes-forget(1), in a notebook whose history no other device has.
@Suite("Forgetting on one device")
struct ForgetTests {
  private static let secret = "hunter2-pass-9f"
  let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("Wifi.txt", "Home\nkey: \(Self.secret)\nbelow the stairs\n")
    try home.write("List.txt", "milk\n")
    try save()
    try home.write("List.txt", "milk\nbread\n")
    try save()
    try home.write("Wifi.txt", "Home\nkey: \(Self.secret)\nbelow the stairs\nask Ben\n")
    try home.write("Copy.txt", "again \(Self.secret)!\n")
    try save(message: "write \(Self.secret) down")
    try home.write("Copy.txt", "again gone\n")
    try save()
  }

  private func save(message: String? = nil) throws {
    home.seconds.now += 10
    _ = try home.notebook.save(message: message)
  }

  private func forget(_ target: ForgetTarget = .text(Array(secret.utf8))) throws -> Forgotten {
    home.seconds.now += 10
    return try home.notebook.forget(target)
  }

  /// All object IDs there are.
  private func objects() throws -> Set<String> {
    let listed = try home.git(
      ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"])
    return Set(listed.split(separator: "\n").map(String.init))
  }

  private func expectWhole() throws {
    #expect(try home.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
    #expect(try home.git(["status", "--porcelain"]).isEmpty)
    #expect(access(home.path + "/.git.new", F_OK) != 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path + "/.git")
    #expect(!names.contains { $0.hasSuffix(".lock") }, "\(names)")
  }

  /// "Afterwards a search for the text finds nothing".
  @Test("A text is nowhere afterwards, and all else is where it was")
  func text() throws {
    let before = try objects()
    let log = try home.git(["log", "--format=%an %ae %at %ct"])
    _ = try home.git(["tag", "start", "HEAD~2"])
    _ = try home.git(["branch", "other", "HEAD~1"])
    try home.write("List.txt", "milk\nbread, staged \(Self.secret)\n")
    _ = try home.git(["stash", "-q"])
    _ = try home.git(["commit", "-q", "--amend", "-m", "amended \(Self.secret)"])
    let plan = try home.notebook.forgetPlan(.text(Array(Self.secret.utf8)))
    #expect(plan.paths == ["Copy.txt", "List.txt", "Wifi.txt"])
    let done = try forget()
    #expect(done.plan == plan)
    let gone = try before.subtracting(objects())
    #expect(gone.count > 5)
    #expect(try Leftovers(in: home.path).places(of: Self.secret, ids: gone.sorted()) == [])
    #expect(try Leftovers(in: home.path).places(of: "[forgotten]").contains("Wifi.txt"))
    #expect(
      try home.read("Wifi.txt") == "Home\nkey: [forgotten]\nbelow the stairs\nask Ben\n")
    #expect(try home.read("List.txt") == "milk\nbread\n")
    let after = try home.git(["log", "--format=%an %ae %at %ct"]).split(separator: "\n")
    #expect(Array(after.dropFirst().dropFirst()) == Array(log.split(separator: "\n").dropFirst()))
    #expect(try home.git(["log", "-1", "--format=%s", "start"]).contains("List"))
    #expect(try home.git(["stash", "show", "-p"]).contains("staged [forgotten]"))
    try expectWhole()
    // Nothing more is to be saved, and the next version is an ordinary one.
    #expect(try home.notebook.save().version == nil)
    try home.write("List.txt", "milk\nbread\ntea\n")
    try save()
    try expectWhole()
  }

  /// "Parts".
  @Test("Parts of it that were saved while it was typed, split or taken away go, too")
  func parts() throws {
    let steps = [
      "list\npin: zeb", "list\npin: zebra-17", "list\npin: zebra-17-xylo",
      "list\npin: zebra-17-xylophone.",
      "list\npin: zebra-17-xylophone.\nzebra crossing",
      "list\npin: zebra-1\n7-xylophone.\nzebra crossing",
      "list\npin: zebra\n-xylophone.\nzebra crossing", "list\npin: \nphone.\nzebra crossing",
    ]
    for step in steps {
      try home.write("Pin.txt", step + "\n")
      try save()
    }
    _ = try forget(.text(Array("zebra-17-xylophone".utf8)))
    for part in ["zebra-1", "ra-17", "xylo", "-xylophone"] {
      #expect(try Leftovers(in: home.path).places(of: part) == [], "\(part)")
    }
    #expect(try home.read("Pin.txt") == "list\npin: \n[forgotten].\nzebra crossing\n")
    #expect(try home.git(["show", "HEAD~8:Pin.txt"]).hasPrefix("list\npin: zeb\n"))
    #expect(try home.read("Wifi.txt")?.contains(Self.secret) == true)
  }

  @Test("A note is nowhere afterwards, under any name")
  func note() throws {
    _ = try home.notebook.rename("Wifi.txt", to: "Network.txt")
    let done = try forget(.note("Network.txt"))
    #expect(done.plan.paths == ["Network.txt", "Wifi.txt"])
    #expect(try home.read("Network.txt") == nil)
    #expect(try Leftovers(in: home.path).places(of: "below the stairs") == [])
    #expect(try Leftovers(in: home.path).places(of: "Network") == [])
    #expect(try home.read("Copy.txt") == "again gone\n")
    try expectWhole()
  }

  @Test("The lines of a version go from its note alone")
  func version() throws {
    let version = try #require(try home.notebook.state().tip)
    try home.write("Copy.txt", "again gone\nand more\n")
    try home.write("Other.txt", "again gone\n")
    try save()
    _ = try forget(.version("Copy.txt", version))
    #expect(try home.read("Copy.txt") == "[forgotten]\nand more\n")
    #expect(try home.read("Other.txt") == "again gone\n")
    #expect(try home.git(["show", "HEAD~2:Copy.txt"]) == "[forgotten]\n")
    try expectWhole()
  }

  /// "'notes undo' takes back what was done before".
  @Test("What was done before can be undone, and nothing comes back")
  func undo() throws {
    _ = try forget()
    let operations = try Notebook.open(at: home.path).history.operations()
    #expect(operations.first?.kind == .forget)
    let reopened = try Notebook.open(at: home.path)
    reopened.clock = home.notebook.clock
    home.seconds.now += 10
    _ = try reopened.undo()
    #expect(try home.read("Copy.txt") == "again [forgotten]!\n")
    #expect(try Leftovers(in: home.path).places(of: Self.secret) == [])
  }

  /// "Nothing is forgotten where a copy would stay that notes cannot reach".
  @Test("It refuses what it could not keep its word about")
  func refuses() throws {
    func error(_ target: ForgetTarget = .text(Array(Self.secret.utf8))) -> (any Error)? {
      do { _ = try forget(target) } catch { return error }
      return nil
    }
    #expect(error(.text(Array("abc".utf8))) as? ForgetError == .tooShort(shortest: 4))
    #expect(error(.text(Array("nowhere".utf8))) as? ForgetError == .notFound)
    let tip = try #require(try home.notebook.state().tip)
    _ = try home.git(["remote", "add", "nas", "/nowhere"])
    #expect(error() as? ForgetError == .remotes(["nas"]))
    _ = try home.git(["remote", "remove", "nas"])
    // A file that the configuration includes names one, too.
    let more = home.path + "-more"
    try writeFile(more, Array("[remote \"nas\"] URL = \\\n/nowhere\n".utf8))
    _ = try home.git(["config", "include.path", more])
    #expect(error() as? ForgetError == .remotes(["nas"]))
    _ = try home.git(["config", "--unset", "include.path"])
    _ = try home.git(["tag", "-a", "-m", "x", "v1"])
    #expect("\(try #require(error()))".contains("refs/tags/v1"))
    _ = try home.git(["tag", "-d", "v1"])
    _ = try home.git(["worktree", "add", "-q", home.path + "-tree", "HEAD~1"])
    #expect("\(try #require(error()))".contains(".git/worktrees"))
    _ = try home.git(["worktree", "remove", "-f", home.path + "-tree"])
    try home.write(".git/index.lock", "")
    #expect("\(try #require(error()))".contains("index.lock"))
    unlink(home.path + "/.git/index.lock")
    #expect(
      try home.notebook.state().tip.map { try home.notebook.repository.isAncestor(tip, of: $0) }
        == true)
    try expectWhole()
    _ = try forget()
    #expect(try Leftovers(in: home.path).places(of: Self.secret) == [])
  }

  /// "Versions from before": "A notebook does not merge a former version if the admin's device made its rewritten form.".
  @Test("Copies from before are not merged, in either direction")
  func formerVersions() throws {
    let copy = try home.clone(device: "Ben")
    let old = try #require(try home.notebook.state().tip)
    _ = try forget()
    let new = try #require(try home.notebook.state().tip)
    try copy.write("Mine.txt", "of Ben\n")
    copy.seconds.now = home.seconds.now + 10
    _ = try copy.notebook.save()
    #expect(throws: NotebookError.self) { try home.receive(from: copy) }
    #expect(throws: NotebookError.self) { try copy.receive(from: home) }
    #expect(try home.notebook.state().tip == new)
    #expect(try copy.read("Wifi.txt")?.contains(Self.secret) == true)
    #expect(try copy.notebook.repository.isAncestor(old, of: #require(copy.notebook.state().tip)))
    // One that has no version from before goes on with both.
    let fresh = try home.clone(device: "Cleo")
    try fresh.write("Theirs.txt", "of Cleo\n")
    fresh.seconds.now = home.seconds.now + 20
    _ = try fresh.notebook.save()
    try home.receive(from: fresh)
    #expect(try home.read("Theirs.txt") == "of Cleo\n")
  }

  @Test("What it cannot take out is named")
  func remaining() throws {
    try home.write("photo.bin", "\0\(Self.secret)")
    try home.write("\(Self.secret).txt", "empty\n")
    try home.write("Wifi.txt~", "key: \(Self.secret)\n")
    try save()
    let plan = try home.notebook.forgetPlan(.text(Array(Self.secret.utf8)))
    #expect(plan.remaining == [TreePath("\(Self.secret).txt"), "photo.bin"])
    #expect(plan.beside == ["Wifi.txt~"])
  }

  /// "no former version ID, digest or signature stays that would let anybody test a guess of the removed text".
  @Test(
    "Messages and logs name no former version, torn logs neither", arguments: [60, 84, 88, 92, 100])
  func formerIDs(tornAt length: Int) throws {
    let first = try #require(
      try home.git(["rev-list", "--max-parents=0", "HEAD"]).split(separator: "\n").first)
    _ = try home.notebook.restore(
      "List.txt", from: home.notebook.repository.commit(#require(ObjectID(hex: first))))
    home.seconds.now += 10
    _ = try home.git(["reset", "-q", "--hard", "HEAD~1"])
    _ = try home.git(["reset", "-q", "--hard", "HEAD@{1}"])
    let log = home.path + "/.git/logs/HEAD"
    let lines = try String(decoding: readFile(log), as: UTF8.self).split(separator: "\n")
    let torn = lines.map { "\($0)\n" }.joined() + lines[1].prefix(length) + lines[2] + "\n"
    try writeFile(log, Array(torn.utf8))
    let before = try objects()
    _ = try forget()
    let gone = try before.subtracting(objects())
    for id in gone {
      #expect(
        try Leftovers(in: home.path).places(of: String(id.prefix(10)), ids: []) == [], "\(id)")
    }
    try expectWhole()
  }

  @Test("Twice, one after the other")
  func twice() throws {
    _ = try forget()
    _ = try forget(.text(Array("bread".utf8)))
    #expect(try Leftovers(in: home.path).places(of: "bread") == [])
    #expect(try Leftovers(in: home.path).places(of: Self.secret) == [])
    try expectWhole()
  }

  /// "Removes all notes and attachments that are now deleted": what was renamed, or came back, stays.
  @Test("What is deleted goes, under all its names, and nothing else")
  func deleted() throws {
    try home.write("Old.txt", "\(Self.secret) in a note that goes\n")
    try home.write("Moves.txt", "stays \(Self.secret)\nunder another name\nand another\n")
    try home.write("Back.txt", "comes back \(Self.secret)\n")
    try home.write("film.mp4", "x\u{0}film")
    try save()
    try home.write("Older.txt", "\(Self.secret) in a note that goes\n")
    try home.remove("Old.txt")
    try save()
    for name in ["Older.txt", "Back.txt", "film.mp4"] { try home.remove(name) }
    _ = try home.notebook.rename("Moves.txt", to: "Moved.txt")
    try save()
    try home.write("Back.txt", "comes back \(Self.secret)\n")
    try save()
    let plan = try home.notebook.forgetPlan(.deleted)
    #expect(plan.paths == ["Old.txt", "Older.txt", "film.mp4"])
    let done = try forget(.deleted)
    #expect(done.plan == plan)
    try expectWhole()
    let paths = try home.git(["log", "--format=", "--name-only"])
    #expect(!paths.contains("Old") && !paths.contains("film"))
    #expect(paths.contains("Moves.txt") && paths.contains("Back.txt"))
    #expect(try home.read("Moved.txt")?.contains(Self.secret) == true)
    #expect(try home.notebook.history.deletedFiles().isEmpty)
    #expect(throws: ForgetError.notFound) { try home.notebook.forgetPlan(.deleted) }
  }

  /// "Removes attachments larger than size": notes of any size stay.
  @Test("Large attachments go, with their later versions, from the folder as well")
  func attachments() throws {
    let long = String(repeating: "long ", count: 500)
    try home.write("Long.txt", long)
    try home.write("small.png", "x\u{0}small")
    try home.write("grows.png", "x\u{0}still small")
    try save()
    try home.write("grows.png", "x\u{0}" + long)
    try save()
    _ = try home.notebook.rename("grows.png", to: "grown.png")
    try home.write("grown.png", "x\u{0}small again")
    try save()
    let done = try forget(.attachments(over: 2_000))
    #expect(done.plan.paths == ["grown.png", "grows.png"])
    try expectWhole()
    #expect(try home.read("grown.png") == nil)
    #expect(try home.read("Long.txt") == long)
    #expect(try home.read("small.png") == "x\u{0}small")
    let sizes = try home.git(
      ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectsize)"])
    let large = sizes.split(separator: "\n").filter { line in
      line.hasPrefix("blob ") && Int(line.dropFirst(5)) ?? 0 > 2_000
    }
    #expect(large == ["blob \(long.utf8.count)"])
    // Its small version from before stays.
    #expect(try home.git(["log", "--format=", "--name-only"]).contains("grows.png"))
  }
}
