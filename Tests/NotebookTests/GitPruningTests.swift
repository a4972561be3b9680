import Git
import Glibc
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Git beside notes": git-prune(1) removes what no reference led to when it began to look.
@Suite("Git removes objects beside a save")
struct GitPruningTests {
  private let home: Fixture

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "a\n")
    _ = try home.notebook.save()
  }

  /// Removes objects of the last version as git does, which had begun before the save.
  private func prune(_ names: [String]) throws {
    let ids = try names.map { try home.git(["rev-parse", $0]).prefix(40) }
    for id in ids {
      try #require(unlink("\(home.path)/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))") == 0)
      rmdir("\(home.path)/.git/objects/\(id.prefix(2))")
    }
  }

  @Test(
    "before its reference moves: it is there when the save ends",
    arguments: [
      ["prune", "--expire=now"], ["gc", "-q", "--prune=now"], ["repack", "-adq"],
      ["maintenance", "run", "--task=gc"],
    ])
  func before(command: [String]) throws {
    try home.write("b.txt", "b\n")
    home.notebook.earlyNotice = { _ in _ = try? home.git(command) }
    let saved = try home.notebook.save()
    #expect(saved.version != nil)
    _ = try home.git(["fsck", "--strict"])
    #expect(try home.git(["show", "HEAD:b.txt"]) == "b\n")
    #expect(
      try Array(
        home.notebook.repository.blob(home.notebook.repository.hash(blob: Array("b\n".utf8))))
        == Array("b\n".utf8))
  }

  @Test(
    "after its reference moved: the next command puts it back, and who reads it first",
    arguments: [["HEAD:a.txt"], ["HEAD^{tree}"], ["HEAD"], ["HEAD", "HEAD^{tree}", "HEAD:a.txt"]])
  func after(names: [String]) throws {
    _ = try home.read("a.txt")
    try home.write("a.txt", "b\n")
    _ = try home.notebook.save()
    try prune(names)
    try home.write("c.txt", "c\n")
    #expect(try home.notebook.save().changes.map(\.path) == ["c.txt"])
    _ = try home.git(["fsck", "--strict"])
    let ids = try ["HEAD:c.txt", "HEAD^{tree}", "HEAD"].map {
      try #require(ObjectID(hex: String(home.git(["rev-parse", $0]).prefix(40))))
    }
    try prune(["HEAD:c.txt", "HEAD^{tree}", "HEAD"])
    let reader = try Repository.open(at: home.path)
    for id in ids { _ = try reader.object(id) }
    _ = try home.git(["fsck", "--strict"])
  }

  @Test("saves beside git's real housekeeping lose nothing")
  func beside() throws {
    let commands =
      "git gc -q --prune=now; git prune --expire=now; git repack -adq; git prune-packed"
    let housekeeping = try RunningProcess(
      ["sh", "-c", "while [ -d .git ] && [ ! -e .git/stop ]; do \(commands); done"], in: home.path)
    for number in 0..<40 {
      try home.write("n\(number % 7).txt", "text \(number)\n")
      _ = try home.notebook.save()
    }
    try home.write(".git/stop", "")
    _ = try housekeeping.wait()
    try home.write("last.txt", "last\n")
    _ = try home.notebook.save()
    _ = try home.git(["fsck", "--strict"])
    let texts = try home.git(["log", "-p", "--format="])
    for number in 0..<40 { #expect(texts.contains("+text \(number)\n"), "\(number)") }
  }

  @Test("second names go when git can no longer be at it, and with what it packed")
  func ends() throws {
    let fresh = home.path + "/.git/notes/fresh"
    #expect(!(try run(["ls", fresh]).lines.isEmpty))
    for (position, name) in try run(["ls", fresh]).lines.enumerated() {
      try #require(rename("\(fresh)/\(name)", "\(fresh)/\(position + 1)") == 0)
    }
    try home.write("b.txt", "b\n")
    _ = try home.notebook.save()
    #expect(try !run(["ls", fresh]).lines.contains("1"))
    _ = try home.git(["gc", "-q", "--prune=now"])
    _ = try home.notebook.save()
    #expect(try home.git(["count-objects"]).hasPrefix("0 objects"))
  }
}
