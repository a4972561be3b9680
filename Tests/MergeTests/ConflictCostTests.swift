import Glibc
import Testing

@testable import Git
@testable import Merge

/// notes-merge(7), "Open conflicts": what it costs to say which notes are in conflict.
@Suite struct ConflictCostTests {
  private func commit(
    _ text: (Int) -> String, notes: Int, on parents: [ObjectID], by email: String, at time: Int64,
    in store: MergeMemoryStore
  ) throws -> ObjectID {
    var entries: [TreePath: TreeEntry?] = [:]
    for number in 0..<notes {
      let path = TreePath("n\(number).txt")
      entries[path] = TreeEntry(
        name: path, mode: .regular, id: try store.write(blob: Array(text(number).utf8)))
    }
    let author = Signature(name: "Ann", email: email, time: 1_700_000_000 + time, offset: 0)
    let base = try parents.first.map { try store.commit($0).tree }
    return try store.write(
      commit: store.write(tree: base, replacing: entries), parents: parents, author: author,
      committer: author, message: "m \(time)\n")
  }

  /// How many objects are read for that many notes in conflict, below a version by somebody who uses git, which
  /// says nothing of conflicts.
  private func reads(conflicts: Int) throws -> Int {
    let store = MergeMemoryStore()
    let ours = "a@notes.invalid"
    let root = try commit({ "one\n\($0)\n" }, notes: conflicts, on: [], by: ours, at: 0, in: store)
    let heads = try ["left", "right"].enumerated().map { index, side in
      try commit(
        { "one\n\(side) \($0)\n" }, notes: conflicts, on: [root], by: ours, at: Int64(index + 1),
        in: store)
    }
    let merge = try DerivedMerge.tip(of: heads, in: store).id
    #expect(try OpenConflicts.conflicts(at: merge, in: store).count == conflicts)
    // It changes one of the notes.
    let top = try commit(
      { _ in "settled\n" }, notes: 1, on: [merge], by: "ann@example.org", at: 9, in: store)
    let before = store.reads
    #expect(try OpenConflicts.conflicts(at: top, in: store).count == conflicts - 1)
    return store.reads - before
  }

  @Test("What is read for conflicts grows as their number, not as its square")
  func linear() throws {
    let (few, many) = (try reads(conflicts: 40), try reads(conflicts: 160))
    #expect(many <= 4 * few, "\(few) \(many)")
  }

  /// How many objects are read to merge notes of three lines, of which one side changed the first and the other side
  /// this one.
  private func reads(notes: Int, line: Int) throws -> Int {
    let store = MergeMemoryStore()
    func text(_ changed: Int, _ word: String) -> String {
      (1...3).map { $0 == changed ? "\(word)\n" : "line \($0)\n" }.joined()
    }
    let ours = "a@notes.invalid"
    let root = try commit({ _ in text(0, "") }, notes: notes, on: [], by: ours, at: 0, in: store)
    let heads = try [text(1, "left"), text(line, "right")].enumerated().map { index, text in
      try commit({ _ in text }, notes: notes, on: [root], by: ours, at: Int64(index + 1), in: store)
    }
    let before = store.reads
    let tip = try DerivedMerge.tip(of: heads, in: store)
    #expect(tip.conflicts.count == (line == 1 ? notes : 0))
    return store.reads - before
  }

  @Test("A text in conflict is merged once")
  func once() throws {
    let (conflicts, merged) = (try reads(notes: 40, line: 1), try reads(notes: 40, line: 3))
    // The labels look each note up on both sides. To merge it again would read three texts and their sizes.
    #expect(conflicts - merged <= 3 * 40, "\(conflicts) \(merged)")
  }

  /// The seconds of processor that it takes to give so many names that differ by case names of their own.
  private func seconds(names: Int) throws -> Double {
    let store = MergeMemoryStore()
    let bits = names.trailingZeroBitCount
    let entries = try (0..<names).map { number -> (TreePath, TreeEntry?) in
      let path = TreePath(bytes: (0..<bits).map { UInt8(ascii: number >> $0 & 1 == 0 ? "a" : "A") })
      return (path, TreeEntry(name: path, mode: .regular, id: try store.write(blob: [])))
    }
    let author = Signature(name: "Ann", email: "a@notes.invalid", time: 1_700_000_000, offset: 0)
    func version(_ entries: [(TreePath, TreeEntry?)], on parents: [ObjectID]) throws -> ObjectID {
      try store.write(
        commit: store.write(
          tree: nil, replacing: Dictionary(entries, uniquingKeysWith: { first, _ in first })),
        parents: parents, author: author, committer: author, message: "m\n")
    }
    let root = try version([], on: [])
    let heads = [
      try version(entries, on: [root]), try version([("own.txt", entries[0].1)], on: [root]),
    ]
    func spent() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let before = spent()
    _ = try DerivedMerge.tip(of: heads, in: store)
    return spent() - before
  }

  @Test("The work for names that differ by case grows as their number, not as its square")
  func names() throws {
    let few = try (0..<3).map { _ in try seconds(names: 512) }.max() ?? 0
    let many = try seconds(names: 4_096)
    // Eight times as many: the square would be 64 times.
    #expect(many <= 16 * few, "\(few) \(many)")
  }
}
