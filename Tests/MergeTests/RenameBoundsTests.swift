import Git
import Testing

@testable import Merge

/// notes-merge(7), "Renames": what is left out, so that no tree takes long or much memory to compare.
@Suite("Bounds of renames", .timeLimit(.minutes(1)))
struct RenameBoundsTests {
  private let store = MergeMemoryStore()

  private func file(_ path: String, _ text: [UInt8]) throws -> (path: TreePath, id: ObjectID) {
    (TreePath(path), try store.write(blob: text))
  }

  private func renames(
    _ gone: [(path: TreePath, id: ObjectID)], _ new: [(path: TreePath, id: ObjectID)]
  ) throws -> [TreePath: TreePath] {
    try RenameDetection.renames(gone: gone, new: new, store: store)
  }

  /// Lines of 64 bytes, that two texts with the same words have half of.
  private func text(_ bytes: Int, _ word: String) -> [UInt8] {
    let half = [[UInt8]](repeating: Array(repeating: 0x61, count: 63) + [0x0a], count: bytes / 128)
    return Array(
      (half.joined() + Array(word.utf8) + [UInt8](repeating: 0x62, count: bytes)).prefix(bytes))
  }

  /// Each of thousands of files of one content is looked at once: one after the other takes hours.
  @Test func oneContent() throws {
    let count = 40_000
    let id = try store.write(blob: [0x78])
    func files(_ folder: String) -> [(path: TreePath, id: ObjectID)] {
      (100_000..<100_000 + count).map { (TreePath("\(folder)\($0).txt"), id) }
    }
    let found = try renames(files("a"), files("b"))
    #expect(found.count == count)
    #expect(found["a100007.txt"] == "b100007.txt" && found["a139999.txt"] == "b139999.txt")
  }

  /// "by path, each added file takes the first removed file not yet taken, by path, with the same ID and last
  /// name; in a second pass the last name may differ."
  @Test func equalIDs() throws {
    let one: [UInt8] = [0x31]
    let found = try renames(
      [file("a/x.txt", one), file("b/y.txt", one), file("c/x.txt", one)],
      [file("d/y.txt", one), file("e/x.txt", one), file("f/x.txt", one), file("g/x.txt", one)])
    #expect(found == ["a/x.txt": "e/x.txt", "b/y.txt": "d/y.txt", "c/x.txt": "f/x.txt"])
    #expect(try renames([file("b/y.txt", one)], [file("c/z.txt", one)]) == ["b/y.txt": "c/z.txt"])
  }

  /// "Then removed files that do not matter, and all files of more than 4194304 bytes, are left out."
  @Test(arguments: [4_194_304, 4_194_305]) func largeFiles(bytes: Int) throws {
    let (old, new) = (try file("a.txt", text(bytes, "old")), try file("b.txt", text(bytes, "new")))
    #expect(try renames([old], [new]) == (bytes == 4_194_304 ? ["a.txt": "b.txt"] : [:]))
    // Equal ones are known by their IDs.
    #expect(try renames([old], [file("b.txt", text(bytes, "old"))]) == ["a.txt": "b.txt"])
  }

  /// "This step is left out if ... the files have more than 16777216 bytes together."
  @Test(arguments: [0, 1]) func similarFiles(more: Int) throws {
    let small = (try file("a.txt", text(4096, "old")), try file("b.txt", text(4096, "new")))
    let others = try (0..<4).map {
      try file("c\($0).txt", [UInt8](repeating: UInt8($0), count: (4 << 20) - 2048 + more))
    }
    #expect(try renames([small.0], [small.1] + others) == (more == 0 ? ["a.txt": "b.txt"] : [:]))
  }

  /// "This step is skipped if all candidates have more than 67108864 bytes together."
  @Test func filesOfOneName() throws {
    let bytes = 4 << 20
    func files(_ folder: String, _ count: Int) throws -> [(path: TreePath, id: ObjectID)] {
      try (0..<count).map {
        try file(
          "\(folder)/\($0)",
          [UInt8]("\(folder)\($0)".utf8) + [UInt8](repeating: 0x61, count: bytes - 8))
      }
    }
    let small = (try file("x/n.txt", text(4096, "old")), try file("y/n.txt", text(4096, "old!")))
    #expect(
      try renames(files("x", 8) + [small.0], files("y", 8) + [small.1]).isEmpty)
  }
}
