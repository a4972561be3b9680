import Glibc
import TestSupport
import Testing

@testable import Git

@Suite("Reading packed objects without libgit2")
struct PackedObjectsTests {
  /// A repository whose objects are in one pack, made by git, and the IDs of all of them.
  private func packed(_ options: [String]) throws -> (folder: TemporaryFolder, ids: [ObjectID]) {
    let folder = try TemporaryFolder()
    func git(_ words: [String], input: [UInt8] = []) throws -> String {
      let result = try run(["git", "-C", folder.path] + words, input: input)
      try #require(result.isSuccess, "\(result)")
      return result.text
    }
    _ = try git(["init", "-q", "-b", "main"])
    let history = try run(
      [BuiltBinary.sourceFolder + "/bench/make-history", "60", "20"])
    _ = try git(["fast-import", "--quiet"], input: history.output)
    _ = try git(options)
    let listed = try git(["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"])
    return (folder, listed.split(separator: "\n").compactMap { ObjectID(hex: String($0)) })
  }

  @Test(
    "it reads what libgit2 reads: whole objects, deltas on a place and on an ID",
    arguments: [
      ["repack", "-a", "-d", "-f", "-q"],
      ["-c", "repack.useDeltaBaseOffset=false", "repack", "-a", "-d", "-f", "-q"],
    ])
  func readsAll(_ options: [String]) throws {
    let (folder, ids) = try packed(options)
    let repository = try Repository.open(at: folder.path)
    #expect(ids.count > 150)
    for id in ids {
      let mine = try #require(try repository.packs().object(id), "\(id)")
      let theirs = try repository.libraryObject(id)
      #expect(mine.kind == theirs.kind && mine.data == theirs.data)
      #expect(try #require(repository.packs().header(of: id)) == (mine.kind, mine.data.count))
      #expect(try repository.object(withPrefix: String(id.hex.prefix(12))) == id)
    }
    #expect(try repository.packs().object(.zero) == nil)
    #expect(try repository.object(withPrefix: "xyz1") == nil)
    #expect(try repository.object(withPrefix: "000000000000") == nil)
  }

  @Test("packs that come are read beside those that are open, and others are read where these went")
  func packsComeAndGo() throws {
    let (folder, ids) = try packed(["repack", "-a", "-d", "-q"])
    let repository = try Repository.open(at: folder.path)
    #expect(try repository.contains(#require(ids.first)))
    let reader = try repository.packs()
    func git(_ words: String..., input: String = "") throws -> String {
      try run(["git", "-C", folder.path] + words, input: Array(input.utf8)).text
    }
    for number in 0..<3 {
      let hex = try git("hash-object", "-w", "--stdin", input: "new \(number)\n").prefix(40)
      _ = try git("pack-objects", "-q", ".git/objects/pack/pack", input: hex + "\n")
      _ = try git("prune-packed", "-q")
      let new = try #require(ObjectID(hex: hex))
      #expect(try repository.object(new).data == Array("new \(number)\n".utf8))
      #expect(try repository.packs() === reader)
    }
    _ = try git("repack", "-a", "-d", "-f", "-q")
    #expect(try repository.lacking(ids + [.zero]) == [.zero])
    #expect(try repository.packs() !== reader)
    for id in ids { #expect(try ObjectID.matches(id, repository.object(id))) }
  }

  // notes-versions(7): "The beginning of its ID, four digits or more."
  @Test("four digits name a packed or a loose object, and no two")
  func prefixes() throws {
    let (folder, ids) = try packed(["repack", "-a", "-d", "-f", "-q"])
    let repository = try Repository.open(at: folder.path)
    func prefix(_ id: ObjectID) -> String { String(id.hex.prefix(4)) }
    let known = Set(ids.map(prefix))
    let texts = (0...).lazy.map { Array("\($0)".utf8) }
    let twin = try #require(
      try texts.first { try known.contains(prefix(repository.hash(blob: $0))) })
    let lone = try #require(
      try texts.first { try !known.contains(prefix(repository.hash(blob: $0))) })
    let first = try repository.hash(blob: twin)
    let packedOnes = ids.filter { prefix($0) == prefix(first) }
    if packedOnes.count == 1 {
      #expect(try repository.object(withPrefix: prefix(first).uppercased()) == packedOnes[0])
    }
    #expect(try repository.write(blob: twin) == first)
    #expect(throws: GitError.self) { try repository.object(withPrefix: prefix(first)) }
    #expect(try repository.object(withPrefix: first.hex) == first)
    let second = try repository.write(blob: lone)
    #expect(try repository.object(withPrefix: prefix(second)) == second)
  }

  @Test("a damaged pack or index yields nothing wrong, and never ends the program")
  func damage() throws {
    let (folder, ids) = try packed(["repack", "-a", "-d", "-f", "-q"])
    let repository = try Repository.open(at: folder.path)
    let right = Dictionary(
      uniqueKeysWithValues: try ids.map { ($0, try repository.libraryObject($0).data) })
    var random = SplitMix64.reported()
    let names = try run(["ls", ".git/objects/pack"], in: folder.path).lines
    for _ in 0..<20 {
      for name in names where name.hasSuffix(".pack") || name.hasSuffix(".idx") {
        let path = folder[".git/objects/pack/" + name]
        let whole = try readFile(path)
        var broken = whole
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let place =
            Bool.random(using: &random)
            ? Int.random(in: 0..<broken.count, using: &random)
            : Int.random(in: 0..<min(1_100, broken.count), using: &random)
          broken[place] = UInt8.random(in: 0...255, using: &random)
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
          broken.removeLast(Int.random(in: 0..<broken.count, using: &random))
        }
        try #require(unlink(path) == 0)
        try writeFile(path, broken)
        let fresh = try Repository.open(at: folder.path)
        for id in ids {
          if let found = try fresh.packs().object(id), try ObjectID.matches(id, found) {
            #expect(found.data == right[id])
          }
          _ = try fresh.packs().header(of: id)
          _ = try? fresh.object(withPrefix: String(id.hex.prefix(4)))
        }
        try #require(unlink(path) == 0)
        try writeFile(path, whole)
      }
    }
  }
}
