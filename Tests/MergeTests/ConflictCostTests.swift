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
}
