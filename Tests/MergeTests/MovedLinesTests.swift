import TestSupport
import Testing

@testable import Merge

// notes-merge(7), "Moved lines", on random texts. A failure prints its seed.

@Suite struct MovedLinesTests {
  /// "Lines that both moved stand where the newer has them"; those that one moved and the other edited
  /// stand once where they went, with the edit, or in a block.
  @Test(arguments: MoveCase.Kind.allCases, ["\n", "\n\n"])
  func movedLinesStandOnce(kind: MoveCase.Kind, separator: String) {
    let first = MergeLawsTests.firstSeed
    for seed in first..<first + UInt64(10 * MergeLawsTests.casesInARun) {
      let moved = MoveCase(kind, seed: seed)
      for isSwapped in [false, true] {
        let (older, newer) = isSwapped ? (moved.newer, moved.older) : (moved.older, moved.newer)
        let (texts, result) = merge([moved.base, older, newer], separator: separator)
        let lines = MergeHistories.lines(result.text)
        let there = lines.filter { $0.contains(moved.word) }
        #expect(
          there.count == 1 || result.markerSize != nil && there.count == 2 && kind != .edited,
          "seed \(seed): \(there) of \(texts)")
        if kind == .edited {
          #expect(there.first?.contains(moved.edit) == true, "seed \(seed): \(texts)")
        }
      }
    }
  }

  /// "No element of the newer's text may have the same words as one of the older's": elements that both add to
  /// a list are a conflict, all others stand in it once.
  @Test func elementsOfAListStandOnce() {
    let (_, result) = merge(["tags: [x, y]", "tags: [x, y, a]", "tags: [x, y, b]"].map { [$0] })
    #expect(MergeHistories.lines(result.text) == ["tags: [x, y, a, b]"])
    // Beside one word alone two edits are of one place.
    let (_, near) = merge(["tags: [x, y]", "tags: [x, a, y]", "tags: [x, y, b]"].map { [$0] })
    #expect(near.markerSize != nil)
    let (_, clash) = merge(["tags: [x]", "tags: [x, a, b]", "tags: [x, c, a]"].map { [$0] })
    #expect(clash.markerSize != nil)
  }

  private func merge(
    _ paragraphs: [[String]], separator: String = "\n"
  ) -> (texts: [String], result: TextMergeResult) {
    let texts = paragraphs.map { $0.joined(separator: separator) + "\n" }
    let terms = texts.map {
      TextTerm(text: Array($0.utf8), label: Array("Ann · 2026-11-21 09:30".utf8))
    }
    var budget = MergeBudget(.standard)
    let result = TextMerge.merge(
      positives: Array(terms[1...]), negatives: [terms[0]], budget: &budget)
    return (texts, result)
  }
}

/// Paragraphs of which one side moved one.
struct MoveCase {
  enum Kind: String, CaseIterable, Sendable {
    /// The other edited it, moved it, or both edited it, too.
    case edited, movedByBoth, bothEdited
  }

  var base: [String]
  var older: [String]
  var newer: [String]
  /// Words of the paragraph that no one changed, and that one put into it.
  let word = "unchanged-word"
  let edit = "edited-word"

  init(_ kind: Kind, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    func word() -> String {
      String(UInt64.random(in: 1 << 20..<1 << 40, using: &random), radix: 36)
    }
    let mark = ["", "- ", "* [ ] "].randomElement(using: &random) ?? ""
    base = (0..<Int.random(in: 3..<9, using: &random)).map { _ in
      mark + (0..<9).map { _ in word() }.joined(separator: " ")
    }
    let place = Int.random(in: base.indices, using: &random)
    base[place] += " " + self.word + " end"
    func edited(_ text: String, _ new: String) -> String {
      text.hasSuffix(" end") ? String(text.dropLast(3)) + new : text
    }
    func moved(_ texts: [String]) -> [String] {
      var texts = texts
      let text = texts.remove(at: place)
      let there = (0...texts.count).filter { $0 != place }.randomElement(using: &random) ?? 0
      texts.insert(text, at: there)
      return texts
    }
    (older, newer) = (moved(base), base)
    switch kind {
    case .edited: newer = base.map { [edit] in edited($0, edit) }
    case .movedByBoth: newer = moved(base)
    case .bothEdited:
      older = older.map { edited($0, "one") }
      newer = newer.map { edited($0, "two") }
    }
  }
}
