import Glibc
import TestSupport
import Testing

@testable import Git
@testable import Merge

/// notes-merge(7), "Bounds": "Devices limit what they accept from one another, and no merge exceeds these
/// limits."
@Suite struct MergeBoundsTests {
  private func commit(
    _ files: [String: String], on parents: [ObjectID] = [], at time: Int64, message: String = "m\n",
    in store: any MergeStore
  ) throws -> ObjectID {
    var entries: [TreePath: TreeEntry?] = [:]
    for (path, text) in files {
      entries[TreePath(path)] = TreeEntry(
        name: TreePath(path).name, mode: .regular, id: try store.write(blob: Array(text.utf8)))
    }
    let base = try parents.first.map { try store.commit($0).tree }
    let author = Signature(
      name: "Ann \(time % 7)", email: "a@notes.invalid", time: 1_700_000_000 + time, offset: 0)
    return try store.write(
      commit: store.write(tree: base, replacing: entries), parents: parents, author: author,
      committer: author, message: message)
  }

  private func text(_ path: TreePath, in tip: ObjectID, _ store: any MergeStore) throws -> String? {
    try store.entry(at: path, in: store.commit(tip).tree).map {
      String(decoding: try store.blob($0.id), as: UTF8.self)
    }
  }

  /// "More than 256 heads are merged in steps."
  @Test func manyHeads() throws {
    let store = MergeMemoryStore()
    let root = try commit(["n.txt": "one\n"], at: 0, in: store)
    let heads = try (1...300).map { number in
      try commit(["f\(number).txt": "\(number)\n"], on: [root], at: Int64(number), in: store)
    }
    let tip = try DerivedMerge.tip(of: heads.shuffled(), in: store)
    #expect(tip.heads == heads)
    let made = try store.commit(tip.id)
    #expect(made.parents.count == 2 && made.message.hasPrefix("Merge 2 versions\n"))
    #expect(try store.commit(made.parents[0]).parents == Array(heads[..<256]))
    #expect(try DerivedMerge.advertisedHeads(of: tip.id, in: store) == made.parents)
    #expect(try text("f7.txt", in: tip.id, store) == "7\n")
    #expect(try text("f300.txt", in: tip.id, store) == "300\n")
    // Any order and grouping, and what others tell.
    let halves = try [heads[..<200], heads[100...]].map {
      try DerivedMerge.tip(of: Array($0), in: store).id
    }
    #expect(try DerivedMerge.tip(of: halves, in: store).id == tip.id)
    #expect(try DerivedMerge.tip(of: made.parents, in: store).id == tip.id)
    // As many as one commit takes are merged as ever.
    let few = try DerivedMerge.tip(of: Array(heads[..<256]), in: store)
    #expect(try store.commit(few.id).parents.count == 256)
    #expect(try DerivedMerge.advertisedHeads(of: few.id, in: store) == few.heads)
  }

  /// "A text of more than 64 MiB is not made of others": two who write one long line anew.
  @Test func largeBlocks() throws {
    let store = MergeMemoryStore()
    var bounds = MergeBounds()
    bounds.textBytes = 1000
    func line(_ word: String) -> String { String(repeating: word, count: 120) + "\n" }
    let root = try commit(["n.txt": line("same ")], at: 0, in: store)
    let heads = try ["mine ", "yours "].enumerated().map { number, word in
      try commit(["n.txt": line(word)], on: [root], at: Int64(number + 1), in: store)
    }
    let tip = try DerivedMerge.tip(of: heads, in: store, bounds: bounds)
    #expect(tip.conflicts.isEmpty)
    #expect(try text("n.txt", in: tip.id, store) == line("mine "))
    #expect(
      try text("n (Ann 2's copy, 2023-11-14 22.13).txt", in: tip.id, store) == line("yours "))
    bounds.textBytes = 10_000
    #expect(try DerivedMerge.tip(of: heads, in: store, bounds: bounds).conflicts == ["n.txt"])
    // "nor one of contents that have more than 96 MiB, or 1048576 newlines, together"
    let bytes = (line("same ") + line("mine ") + line("yours ")).utf8.count
    for (contentBytes, newlines, conflicts): (Int, Int, [TreePath]) in [
      (bytes, 3, ["n.txt"]), (bytes - 1, 3, []), (bytes, 2, []),
    ] {
      (bounds.contentBytes, bounds.contentNewlines) = (contentBytes, newlines)
      #expect(try DerivedMerge.tip(of: heads, in: store, bounds: bounds).conflicts == conflicts)
    }
  }

  /// "The contents of a file stay as copies if all merged contents, with them, would have more than 8388608
  /// newlines."
  @Test func newlinesInAll() throws {
    let store = MergeMemoryStore()
    func all(_ text: String) -> [String: String] { ["a.txt": text, "b.txt": text, "c": "c\n"] }
    let root = try commit(all("one\n"), at: 0, in: store)
    let heads = try ["two\n", "three\n"].enumerated().map { number, text in
      try commit(all(text), on: [root], at: Int64(number + 1), in: store)
    }
    var bounds = MergeBounds()
    for (newlines, conflicts): (Int, [TreePath]) in [
      (6, ["a.txt", "b.txt"]), (5, ["a.txt"]), (2, []),
    ] {
      bounds.newlinesInAll = newlines
      let tip = try DerivedMerge.tip(of: heads, in: store, bounds: bounds)
      #expect(tip.conflicts == conflicts)
      let copy = try text("b (Ann 2's copy, 2023-11-14 22.13).txt", in: tip.id, store)
      #expect(copy == (newlines < 6 ? "three\n" : nil))
    }
  }

  /// A text that is too large is not put together to learn that.
  @Test func tooLargeIsNotMade() {
    var budget = MergeBudget(.standard)
    let sides = ["mine\n", "yours\n"].map { TextTerm(text: Array($0.utf8), label: [0x41]) }
    for mostBytes in [9, 40] {
      let result = TextMerge.merge(
        positives: sides, negatives: [TextTerm(text: Array("ours\n".utf8))], budget: &budget,
        mostBytes: mostBytes)
      #expect(result.isTooLarge == (mostBytes == 9) && result.text.isEmpty == (mostBytes == 9))
    }
  }

  /// "A fine-grained merge of two sides costs the product of their sizes in bytes", and what is left is
  /// for the notes that follow.
  @Test func fineWork() throws {
    let store = MergeMemoryStore()
    func all(_ text: String) -> [String: String] { ["a.txt": text, "b.txt": text] }
    let root = try commit(all("list\n"), at: 0, in: store)
    // Each side of the region is the line that it adds.
    let heads = try ["bread\n", "stamps\n"].enumerated().map { number, line in
      try commit(all("list\n" + line), on: [root], at: Int64(number + 1), in: store)
    }
    var bounds = MergeBounds()
    let cost = 6 * 7
    for (work, conflicts): (Int, [TreePath]) in [
      (2 * cost, []), (2 * cost - 1, ["b.txt"]), (cost - 1, ["a.txt", "b.txt"]),
    ] {
      bounds.fineWork = work
      #expect(try DerivedMerge.tip(of: heads, in: store, bounds: bounds).conflicts == conflicts)
    }
  }

  /// "Of all texts for which more than two positive contents are left, by path, those that would bring
  /// their contents above 256 MiB in all are not made either."
  @Test func textsOfMany() throws {
    let store = MergeMemoryStore()
    func all(_ line: String) -> [String: String] {
      let text = String(repeating: "common\n", count: 300) + line + "\n"
      return ["a.txt": text, "b.txt": text]
    }
    let root = try commit(all("nothing"), at: 0, in: store)
    let heads = try ["bread", "stamps", "light bulbs"].enumerated().map { number, line in
      try commit(all(line), on: [root], at: Int64(number + 1), in: store)
    }
    var bounds = MergeBounds()
    // Four contents of about 2,110 bytes each, in each of two notes.
    bounds.textBytes = 2500
    let tip = try DerivedMerge.tip(of: heads, in: store, bounds: bounds)
    #expect(tip.conflicts == ["a.txt"])
    #expect(try text("b (Ann 3's copy, 2023-11-14 22.13).txt", in: tip.id, store) != nil)
    bounds.textBytes *= 2
    #expect(
      try DerivedMerge.tip(of: heads, in: store, bounds: bounds).conflicts == ["a.txt", "b.txt"])
  }

  /// "So do those for whose block the message has no room", and "Notes-More".
  @Test func manyConflicts() throws {
    let store = MergeMemoryStore()
    var bounds = MergeBounds()
    bounds.listBytes = 1000
    let names = (0..<100).map { "note \(1000 + $0).txt" }
    func all(_ text: String) -> [String: String] {
      Dictionary(uniqueKeysWithValues: names.map { ($0, text) })
    }
    let root = try commit(all("one\n"), at: 0, in: store)
    let heads = try ["two\n", "three\n"].enumerated().map { number, text in
      try commit(all(text), on: [root], at: Int64(number + 1), in: store)
    }
    let tip = try DerivedMerge.tip(of: heads, in: store, bounds: bounds)
    // "Notes-Conflict: 7 note 1000.txt" and its newline are 32 bytes.
    #expect(tip.conflicts.count == 500 / 32)
    #expect(try store.commit(tip.id).message.utf8.count < 600)
    #expect(try OpenConflicts.conflicts(at: tip.id, in: store).keys.sorted() == tip.conflicts)
    // Nothing is lost: all others have a copy.
    for name in names {
      let both = try text(TreePath(name), in: tip.id, store) ?? ""
      let copied = TreePath(String(name.dropLast(4)) + " (Ann 2's copy, 2023-11-14 22.13).txt")
      let copy = try text(copied, in: tip.id, store)
      #expect(both.contains("two\n") && (both.contains("three\n") || copy == "three\n"))
    }
    // Conflicts that there are already are known from the heads where the list has no room for them.
    let others = try (0..<8).map { number in
      let name = "\(number) " + String(repeating: "x", count: 40) + ".txt"
      let lines = try ["a\n", "b\n"].map { text in
        try commit([name: text], on: [root], at: Int64(10 + number), message: text, in: store)
      }
      let made = try DerivedMerge.tip(of: lines, in: store)
      let conflicts = try OpenConflicts.carried(
        from: [store.commit(made.id)], to: store.commit(made.id).tree, in: store)
      return try commit(
        ["\(number)": "\n"], on: [made.id], at: Int64(20 + number),
        message: "m\n\n" + conflicts.lines().joined(separator: "\n") + "\n", in: store)
    }
    bounds.listBytes = 200
    let joined = try DerivedMerge.tip(of: others, in: store, bounds: bounds)
    #expect(try store.commit(joined.id).message.contains("\nNotes-More: 5\n"))
    #expect(try OpenConflicts.conflicts(at: joined.id, in: store).count == 8)
  }

  /// Any order and grouping give one tip also where every bound is met.
  @Test(arguments: 0..<4) func laws(run: Int) throws {
    let first = MergeLawsTests.firstSeed + UInt64(run * 50)
    print("merge bounds: NOTES_TEST_SEED=\(MergeLawsTests.firstSeed)")
    for seed in first..<first + 50 {
      let store = MergeMemoryStore()
      var bounds = MergeBounds()
      bounds.parents = 2 + Int(seed % 2)
      bounds.textBytes = [100, 300, 1000][Int(seed / 2 % 3)]
      bounds.listBytes = [40, 100, 200][Int(seed / 6 % 3)]
      bounds.newlinesInAll = [5, 50, 1 << 23][Int(seed / 18 % 3)]
      var history = try MergeHistories(
        store: store, seed: seed, devices: 4 + Int(seed % 5), steps: Int(seed % 11),
        onOneLine: seed % 3 == 0, bounds: bounds)
      let heads = history.heads.flatMap { $0 }
      let tip = try DerivedMerge.tip(of: heads, in: store, bounds: bounds)
      let cut = history.below(heads.count + 1)
      let order = heads.shuffled(using: &history.random)
      let parts = try [order.prefix(cut), order.suffix(heads.count - cut)].filter { !$0.isEmpty }
        .map { try DerivedMerge.tip(of: Array($0), in: store, bounds: bounds).id }
      #expect(
        try DerivedMerge.tip(of: parts + parts, in: store, bounds: bounds).id == tip.id,
        "seed \(seed)")
      #expect(
        try DerivedMerge.advertisedHeads(of: tip.id, in: store, bounds: bounds).count
          <= bounds.parents)
    }
  }

  /// What names are looked up and held against each other grows with their number, not with its square.
  @Test func namesThatDifferByCase() throws {
    var work: [Int: Int] = [:]
    for letters in [8, 10] {
      let folder = try TemporaryFolder()
      let repository = try Repository.create(at: folder.path)
      let names = (0..<1 << letters).map { bits in
        String((0..<letters).map { bits >> $0 & 1 == 0 ? "a" : "A" } as [Character])
      }
      try repository.withBatchedWrites {
        let root = try commit(["n.txt": "one\n"], at: 0, in: repository)
        let heads = try [names.prefix(names.count / 2), names.suffix(names.count / 2)].enumerated()
          .map {
            number, names in
            try commit(
              Dictionary(uniqueKeysWithValues: names.map { ($0, "\(number)\n") }), on: [root],
              at: Int64(number + 1), in: repository)
          }
        let tip = try DerivedMerge.tip(of: heads, in: repository)
        #expect(try repository.files(in: repository.commit(tip.id).tree).count == names.count + 1)
      }
      work[names.count] = repository.folderIndexes.entriesRead
    }
    #expect(work[1024, default: 0] > 0 && work[1024, default: 0] <= 5 * work[256, default: 0])
  }
}
