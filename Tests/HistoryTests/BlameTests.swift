import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

@Suite("Who wrote each line: notes-blame(1)")
struct BlameTests {
  private func origins(
    _ home: Fixture, _ path: TreePath, at version: String? = nil
  ) throws -> [(String, BlamedLine.Origin)] {
    let version = try version.map { try home.notebook.history.noteVersion(named: $0, of: path) }
    return try home.notebook.history.blame(path, at: version).map {
      (String(decoding: $0.bytes, as: UTF8.self), $0.origin)
    }
  }

  @Test("a line belongs to the oldest version that has it, through renames; unsaved lines to none")
  func lines() throws {
    let home = try Fixture()
    try home.write("a.txt", "one\ntwo\nthree, a longer one\n")
    let first = try #require(try home.notebook.save().version)
    home.seconds.now += 10
    try home.write("a.txt", "zero\none\ntwo\nthree, a longer one\n")
    let second = try #require(try home.notebook.save().version)
    try home.remove("a.txt")
    home.seconds.now += 10
    try home.write("b.txt", "zero\none\n2\nthree, a longer one\n")
    let third = try #require(try home.notebook.save().version)
    try home.write("b.txt", "zero\nnew\none\n2\nthree, a longer one")
    let found = try origins(home, "b.txt")
    #expect(found.map(\.0) == ["zero", "new", "one", "2", "three, a longer one"])
    #expect(
      found.map(\.1) == [
        .version(second), .unsaved, .version(first), .version(third), .version(first),
      ])
    #expect(
      try origins(home, "b.txt", at: "~1").map(\.1)
        == [.version(second), .version(first), .version(first), .version(first)])
    try home.write("nul.txt", "a\0b")
    #expect(throws: HistoryError.self) { try home.notebook.history.blame("nul.txt") }
    try home.write("empty.txt", "")
    #expect(try home.notebook.history.blame("empty.txt").isEmpty)
  }

  @Test("merges of notes wrote nothing: lines belong to the heads' authors, markers to nobody")
  func merges() throws {
    let home = try Fixture()
    try home.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
    let first = try #require(try home.notebook.save().version)
    let away = try home.clone(device: "Bo")
    home.seconds.now += 10
    away.seconds.now += 20
    try home.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nmine\n")
    let mine = try #require(try home.notebook.save().version)
    try away.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nyours\n")
    let yours = try #require(try away.notebook.save().version)
    try home.receive(from: away)
    func check() throws {
      let found = try origins(home, "a.txt")
      for (text, origin) in found {
        switch text {
        case "ONE", "mine": #expect(origin == .version(mine))
        case "THREE", "yours": #expect(origin == .version(yours))
        case "two", "four", "five": #expect(origin == .version(first))
        case "after": break
        default: #expect(origin == .marker, "\(text)")
        }
      }
      #expect(found.filter { $0.1 == .marker }.count == 3)
    }
    try check()
    // A later version that still holds the conflict keeps all of it.
    home.seconds.now += 20
    try home.write("a.txt", try #require(try home.read("a.txt")) + "after\n")
    let after = try #require(try home.notebook.save().version)
    try check()
    #expect(try origins(home, "a.txt").last?.1 == .version(after))
  }

  @Test("on a single line of history lines of their own belong to the version that brought them")
  func everyLineIsItsOwn() throws {
    var random = SplitMix64.reported()
    let home = try Fixture()
    var lines: [(String, Int)] = []
    var versions: [ObjectID] = []
    for round in 0..<40 {
      for place in 0..<Int.random(in: 1...3, using: &random) {
        let spot = Int.random(in: 0...lines.count, using: &random)
        if spot < lines.count, Bool.random(using: &random) { lines.remove(at: spot) }
        lines.insert(("line \(round) \(place)", round), at: min(spot, lines.count))
      }
      home.seconds.now += 10
      try home.write("a.txt", lines.map { $0.0 + "\n" }.joined())
      versions.append(try #require(try home.notebook.save().version))
      try home.write("other.txt", "\(round)")
      _ = try home.notebook.save()
    }
    let found = try origins(home, "a.txt")
    #expect(found.map(\.0) == lines.map(\.0))
    #expect(found.map(\.1) == lines.map { .version(versions[$0.1]) })
  }
}
