import Git
import TestSupport
import Testing

@testable import Merge

// The laws of notes-merge(7), "Laws", on random histories. A failure prints its seed; the case
// replays with `MergeHistories(seed:)`.

@Suite struct MergeLawsTests {
  /// Where the seeds begin: `NOTES_TEST_SEED`, or somewhere else in every run.
  static let firstSeed =
    TestEnvironment.variable("NOTES_TEST_SEED").flatMap { UInt64($0) }
    ?? UInt64.random(in: 0..<1 << 40)
  /// `NOTES_TEST_CASES`, or so few that all of them take seconds.
  static let casesInARun =
    TestEnvironment.variable("NOTES_TEST_CASES").flatMap { Int($0) }
    ?? TestEnvironment.amount(40, inFull: 200)

  @Test(arguments: 0..<20)
  func anyOrderAndGroupingGiveOneTip(run: Int) throws {
    let first = Self.firstSeed + UInt64(run * Self.casesInARun)
    if run == 0 { print("merge laws: NOTES_TEST_SEED=\(first)") }
    for seed in first..<first + UInt64(Self.casesInARun) {
      let store = MergeMemoryStore()
      try check(
        MergeHistories(
          store: store, seed: seed, devices: 2 + Int(seed % 7), steps: 3 + Int(seed % 7)), store,
        seed)
    }
  }

  /// notes-merge(7), "Regions": a line is wrong "if the result lacks it although the positive terms have it more
  /// often than the negative ones". A base of several may meet another text than that which was made on it.
  @Test func whoeverAddsALineHasItWhateverCancels() {
    func term(_ lines: String) -> TextTerm {
      TextTerm(text: Array(lines.map { "line \($0)\n" }.joined().utf8), label: Array(lines.utf8))
    }
    var budget = MergeBudget(.standard)
    let merged = TextMerge.merge(
      positives: ["efab", "b", "cadg"].map(term), negatives: ["", "ab"].map { term($0) },
      budget: &budget)
    let lines = MergeHistories.lines(merged.text)
    for line in "bcdefg" { #expect(lines.contains("line \(line)"), "\(lines)") }
  }

  /// Up to eight heads on one line: the blocks hold all sides, and are then edited on top of.
  @Test(arguments: 0..<10)
  func headsThatMeetOnOneLine(run: Int) throws {
    let count = UInt64(max(1, Self.casesInARun / 5))
    let first = Self.firstSeed + UInt64(run) * count
    for seed in first..<first + count {
      let store = MergeMemoryStore()
      let history = try MergeHistories(
        store: store, seed: seed, devices: 2 + Int(seed % 7), steps: Int(seed / 7 % 9),
        onOneLine: true)
      if seed / 7 % 9 == 0 {
        let tip = try DerivedMerge.tip(of: history.heads.flatMap { $0 }, in: store)
        #expect(tip.heads.count == 2 + Int(seed % 7) && tip.conflicts == ["n.txt"], "seed \(seed)")
      }
      try check(history, store, seed)
    }
  }

  @Test func theSameHoldsInARepository() throws {
    for seed in Self.firstSeed..<Self.firstSeed + 15 {
      let folder = try TemporaryFolder()
      let repository = try Repository.create(at: folder.path)
      try repository.withBatchedWrites {
        let history = try MergeHistories(store: repository, seed: seed, devices: 4, steps: 16)
        try check(history, repository, seed)
      }
    }
  }

  private func check(_ history: MergeHistories, _ store: any MergeStore, _ seed: UInt64) throws {
    var history = history
    let tip = try DerivedMerge.tip(of: history.heads.flatMap { $0 }, in: store)
    let heads = tip.heads
    // Any order, with repetitions.
    let shuffled = (heads + heads).shuffled(using: &history.random)
    #expect(try DerivedMerge.tip(of: shuffled, in: store).id == tip.id, "seed \(seed)")
    // Any grouping: the tips of parts joined.
    let cut = history.below(heads.count + 1)
    let order = heads.shuffled(using: &history.random)
    let parts = try [order.prefix(cut), order.suffix(heads.count - cut)]
      .filter { !$0.isEmpty }.map { try DerivedMerge.tip(of: Array($0), in: store).id }
    #expect(try DerivedMerge.tip(of: parts, in: store).id == tip.id, "seed \(seed)")
    // A merge of a thing with itself, or with what it descends from, changes nothing.
    #expect(
      try DerivedMerge.tip(of: [tip.id, tip.id] + heads, in: store).id == tip.id,
      "seed \(seed)")
    try checkText(tip, history, store, seed)
  }

  private func checkText(
    _ tip: DerivedMerge.Tip, _ history: MergeHistories, _ store: any MergeStore, _ seed: UInt64
  ) throws {
    let commit = try store.commit(tip.id)
    var present: Set<String> = []
    let open = try OpenConflicts.conflicts(at: commit, in: store)
    #expect(open.keys.sorted() == tip.conflicts, "seed \(seed)")
    for (path, file) in try files(in: commit.tree, store) {
      let text = try store.blob(file.id)
      present.formUnion(MergeHistories.lines(text))
      if let size = open[path] {
        let marked = MarkedText(text, markerSize: size)
        #expect(!marked.blocks.isEmpty, "seed \(seed)")
        for side in marked.blocks.joined() {
          #expect(MarkedText(side.text, markerSize: size).blocks.isEmpty, "seed \(seed)")
        }
        // A block that stood in a head may have been edited by hand.
        let isOurs = try tip.heads.allSatisfy {
          try OpenConflicts.conflicts(at: store.commit($0), in: store)[path] == nil
        }
        for sides in marked.blocks where isOurs {
          #expect(Set(sides.map(\.text)).count == sides.count, "seed \(seed)")
          #expect(sides.isTrimmed, "seed \(seed)")
        }
      }
    }
    // Every inserted line is there, or was deleted by a head that saw it. Of a line that stood in two
    // notes, one head may have deleted it from the one and another from the other.
    let heads = try tip.heads.map { try store.commit($0) }
    var inHead: [ObjectID: [TreePath: Set<String>]] = [:]
    for head in heads {
      inHead[head.id] = try files(in: head.tree, store).mapValues {
        Set(MergeHistories.lines(try store.blob($0.id)))
      }
    }
    for (line, origin) in history.origins where !present.contains(line) {
      let saw = try heads.filter { try store.isAncestor(origin, of: $0.id) }
      let places = saw.map { head in
        Set((inHead[head.id] ?? [:]).filter { $0.value.contains(line) }.keys)
      }
      let isDeleted =
        history.copied.contains(line)
        ? places.dropFirst().reduce(places.first ?? []) { $0.intersection($1) }.isEmpty
        : places.contains { $0.isEmpty }
      #expect(saw.isEmpty || isDeleted, "seed \(seed): \(line) is lost")
    }
  }

  private func files(
    in tree: ObjectID, _ store: any MergeStore
  ) throws -> [TreePath: TreeEntry] {
    try store.changes(from: nil, to: tree).reduce(into: [:]) { $0[$1.path] = $1.new }
  }
}
