import Git
import Merge
import TestSupport
import Testing

// What notes-merge(7) does not look into, so that no text takes long. `bench/run merge` measures
// texts that quadratic algorithms are slow on.

@Suite struct MergeLimitsTests {
  private func merge(_ older: String, _ newer: String, base: String) -> TextMergeResult {
    var budget = MergeBudget(.standard)
    return TextMerge.merge(
      positives: [older, newer].map { TextTerm(text: Array($0.utf8), label: Array("L".utf8)) },
      negatives: [TextTerm(text: Array(base.utf8))], budget: &budget)
  }

  /// "If none of the three has more than 2000 lines or 1048576 bytes", and "If one of the three is
  /// larger than that: none."
  @Test func smallerPartsAreOfSmallRegions() {
    let line = String(repeating: "word ", count: 209_715) + "\n"
    #expect(line.utf8.count == 1_048_576)
    #expect(merge("X" + line, "Y" + line, base: "z" + line.dropLast(2) + "\n").markerSize == 7)
    // One side writes all of it anew, the other adds a line behind it.
    for (count, isMerged) in [(1999, true), (2000, false)] {
      func text(_ word: String) -> String { (0..<count).map { "\(word) \($0)\n" }.joined() }
      let result = merge(text("words"), text("word") + "something else\n", base: text("word"))
      #expect((result.markerSize == nil) == isMerged)
    }
  }

  /// "Finding this out costs 32 for each pair of distinct lines of letters": above 2048 by 2048
  /// lines they count as similar.
  @Test func manyInsertedLinesAreNotCompared() {
    func lines(_ word: String, _ count: Int) -> String {
      (0..<count).map { "\($0) \(word) \($0 * $0)\n" }.joined()
    }
    #expect(merge(lines("aaaa", 500), lines("bbbb", 500), base: "").markerSize == nil)
    #expect(merge(lines("aaaa", 2049), lines("bbbb", 2049), base: "").markerSize == 7)
  }

  @Test func equalLinesThatNearlyHoldEachOther() {
    let same = String(repeating: "same\n", count: 20_000)
    let result = merge(same + "xxx\n", same.dropLast(5) + "yyy\n", base: "")
    #expect(result.markerSize == 7)
  }

  /// "Years below 0 and above 9999 are written 0000 and 9999."
  @Test func yearsOfFourDigits() {
    let times: [Int64] = [
      -1, 951_782_400, 253_402_300_800, -99_999_999_999, Int64.max / 2,
      .max, .min,
    ]
    let dates = times.map {
      SideLabel.date(of: Signature(name: "Ann", email: "a@b", time: $0, offset: 90))
    }
    #expect(
      dates == [
        "1970-01-01 01:29", "2000-02-29 01:30", "9999-01-01 01:30", "0000-02-15 15:43",
        "9999-06-19 09:15", "9999-12-04 17:00", "0000-01-27 09:59",
      ])
  }

  /// "Such merges nest at most 100 deep": two that merge each other's versions without
  /// end make bases that have bases.
  @Test func basesOfBases() throws {
    let store = MergeMemoryStore()
    var time: Int64 = 1_790_000_000
    func commit(_ text: String, _ parents: [ObjectID]) throws -> ObjectID {
      time += 60
      let blob = try store.write(blob: Array(text.utf8))
      let tree = try store.write(
        tree: [TreeEntry(name: TreePath("n.txt"), mode: .regular, id: blob)])
      let person = Signature(name: "Ann", email: "ann@example.org", time: time, offset: 0)
      return try store.write(
        commit: tree, parents: parents, author: person, committer: person, message: "x\n")
    }
    let first = try commit("start\n", [])
    var heads = try [commit("start\none\n", [first]), commit("start\ntwo\n", [first])]
    for turn in 0..<250 {
      heads = try [
        commit("start\none\n\(turn)\n", heads), commit("start\ntwo\n\(turn)\n", heads.reversed()),
      ]
    }
    let tip = try DerivedMerge.tip(of: heads, in: store)
    #expect(try DerivedMerge.tip(of: heads.reversed(), in: store).id == tip.id)
  }
}
