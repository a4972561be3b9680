import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing
import WorkTree

@testable import Notebook

@Suite("Saving many notes at once")
struct BulkSaveTests {
  private func packs(_ home: Fixture) throws -> [String] {
    let listing = try run(["ls", home.path + "/.git/objects/pack"])
    return listing.text.split(separator: "\n").map(String.init)
  }

  private func fill(_ home: Fixture, count: Int = 300) throws {
    for number in 0..<count {
      // Every tenth has the text of another.
      try home.write(
        "f\(number % 7)/n\(number).txt", "note \(number - (number % 10 == 0 ? 1 : 0))\n")
    }
  }

  @Test("a first snapshot is one pack that git accepts, and says how far it is")
  func onePack() throws {
    let home = try Fixture()
    try fill(home)
    try home.write("empty.txt", "")
    var (seen, last): ([Int], Int) = ([], 0)
    let saved = try home.notebook.save { done, total in
      #expect(total.files == 301 && total.bytes > 2_000)
      seen.append(done.files)
      if done.files == total.files { last = total.bytes - done.bytes } else { last = -1 }
    }
    #expect(saved.changes.count == 301)
    #expect(seen == seen.sorted() && seen.last == 301 && last == 0)
    #expect(try packs(home).count == 2)
    #expect(try run(["git", "-C", home.path, "fsck", "--strict"]).isSuccess)
    let status = try run(["git", "-C", home.path, "status", "--porcelain"])
    #expect(status.isSuccess && status.output.isEmpty)
    // All but the commit.
    let loose = try run(["git", "-C", home.path, "count-objects"])
    #expect(loose.text.hasPrefix("1 objects"))
    #expect(try home.notebook.status().changes.isEmpty)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("a save of a few large files says how far it is, too")
  func fewLarge() throws {
    let home = try Fixture()
    for name in ["a", "b", "c"] {
      try home.write(name + ".txt", String(repeating: name, count: 1_000))
    }
    var seen: [WorkAmount] = []
    _ = try home.notebook.save { done, total in
      #expect(total.files == 3 && total.bytes == 3_000)
      seen.append(done)
    }
    #expect(seen.map(\.files) == [0, 1, 2] && seen.map(\.bytes) == [0, 1_000, 2_000])
  }

  @Test("among many files each large one is told when it is done, whichever thread reads it")
  func largeAmongMany() throws {
    let home = try Fixture()
    try fill(home, count: 120)
    // The first in order: one thread has them all in its share.
    var random = SplitMix64(seed: 1)
    let text = (0..<60_000).map { _ in "\(random.next())" }.joined()
    for number in 10..<26 { try home.write("a\(number).bin", text + "\(number)") }
    var seen: Set<Int> = []
    _ = try home.notebook.save { done, total in
      #expect(done.bytes <= total.bytes)
      seen.insert(done.bytes >> 20)
    }
    #expect(seen.contains { (2..<16).contains($0) } && (seen.max() ?? 0) > 16, "\(seen)")
  }

  @Test("a save that is ended makes no version")
  func ended() throws {
    struct Ended: Error {}
    let home = try Fixture()
    for number in 0..<200 { try home.write("\(number).txt", "\(number)\n") }
    #expect(throws: Ended.self) { try home.notebook.save { _, _ in throw Ended() } }
    #expect(try home.notebook.repository.head().commit == nil)
    #expect(try home.notebook.save().changes.count == 200)
  }

  @Test("many edits go into a pack; files touched but not changed are not stored again")
  func edits() throws {
    let home = try Fixture()
    try fill(home)
    _ = try home.notebook.save()
    for number in 0..<150 { try home.write("f\(number % 7)/n\(number).txt", "edit \(number)\n") }
    #expect(try home.notebook.save().changes.count == 150)
    #expect(try packs(home).count == 4)
    try #require(try run(["sh", "-c", "touch -d '2001-01-01' \(home.path)/*/*.txt"]).isSuccess)
    #expect(try home.notebook.save().version == nil)
    #expect(try packs(home).count == 4)
    #expect(try run(["git", "-C", home.path, "fsck", "--strict"]).isSuccess)
  }

  @Test("what a killed save left is removed, what a living one writes stays")
  func leftovers() throws {
    let home = try Fixture()
    let incoming = home.path + "/.git/notes/incoming/"
    for name in ["1-a", "2-b"] {
      try home.write(".git/notes/incoming/\(name)/lock", "")
      try home.write(".git/notes/incoming/\(name)/objects/pack/new.pack", "PACK")
    }
    let living = open(incoming + "2-b/lock", O_RDONLY)
    #expect(flock(living, LOCK_EX) == 0)
    defer { close(living) }
    try home.write(".git/objects/pack/pack-1.pack", "PACK")
    let old = home.path + "/.git/objects/pack/pack-1.pack"
    try #require(try run(["touch", "-d", "2001-01-01", old]).isSuccess)
    try fill(home)
    _ = try home.notebook.save()
    #expect(try packs(home).count == 2)
    #expect(try run(["ls", incoming]).text == "2-b\n")
  }

  @Test("the new index and its trees are those that git makes")
  func indexLikeGits() throws {
    var random = SplitMix64.reported()
    let home = try Fixture()
    let names = ["a", "a.txt", "a-b", "b", "c.txt", "\u{e9}"]
    for round in 0..<40 {
      for _ in 0..<6 {
        // A name may be a file in one round and a folder in the next.
        let depth = Int.random(in: 1...3, using: &random)
        let path = (0..<depth).map { _ in names.randomElement(using: &random) ?? "a" }
        let target = path.joined(separator: "/")
        _ = try run(["rm", "-rf", home.path + "/" + path[0]])
        if Bool.random(using: &random) { try home.write(target, "\(round) \(target)") }
      }
      let saved = try home.notebook.save()
      let tree = try run(["git", "-C", home.path, "write-tree"])
      let head = try run(["git", "-C", home.path, "rev-parse", "-q", "--verify", "HEAD^{tree}"])
      if saved.version != nil { #expect(tree.output == head.output, "round \(round)") }
      let status = try run(["git", "-C", home.path, "status", "--porcelain"])
      #expect(status.isSuccess && status.output.isEmpty, "round \(round)")
    }
    #expect(try run(["git", "-C", home.path, "fsck", "--strict"]).isSuccess)
  }

  @Test("a damaged index is made anew; nothing counts as deleted")
  func damagedIndex() throws {
    let home = try Fixture()
    try fill(home, count: 20)
    _ = try home.notebook.save()
    let index = home.path + "/.git/index"
    var bytes = try readFile(index)
    bytes[60] ^= 1
    try writeFile(index, bytes)
    #expect(try home.notebook.save().version == nil)
    try writeFile(index, [UInt8](repeating: 0, count: 4096))
    #expect(try home.notebook.status().changes.isEmpty)
    try home.write("new.txt", "new")
    #expect(try home.notebook.save().changes.map(\.path) == ["new.txt"])
    #expect(try run(["git", "-C", home.path, "status", "--porcelain"]).output.isEmpty)
  }
}
