import Git
import TestSupport
import Testing

@testable import Merge

// What notes-merge(7), "Laws", says of blocks. A failure prints its seed or its texts.

@Suite struct BlockLawsTests {
  /// "The sides of a block never all begin with one line, nor all end with one": all texts of two
  /// lines, three at a time, of few lines together.
  @Test(arguments: [["eggs"], nil])
  func sidesAreTrimmed(base: [String]?) {
    let longest = MergeLawsTests.casesInARun > 200 ? 8 : 5
    var texts: [[[String]]] = [[[]]]
    for length in 1...longest {
      texts.append(texts[length - 1].flatMap { text in ["milk", "bread"].map { text + [$0] } })
    }
    for total in 1...longest {
      for first in 0...total {
        for second in 0...(total - first) {
          for a in texts[first] {
            for b in texts[second] {
              for c in texts[total - first - second] { check([a, b, c], base: base) }
            }
          }
        }
      }
    }
  }

  private func check(_ sides: [[String]], base: [String]?) {
    func term(_ lines: [String], _ label: String) -> TextTerm {
      TextTerm(
        text: Array(lines.map { $0 + "\n" }.joined().utf8),
        label: Array("\(label) · 2026-11-21 09:30".utf8))
    }
    var budget = MergeBudget(.standard)
    let result = TextMerge.merge(
      positives: zip(sides, ["Ann", "Bob", "Cyd"]).map { term($0, $1) },
      negatives: [base, base].map { $0.map { term($0, "") } }, budget: &budget)
    guard let size = result.markerSize else { return }
    for block in MarkedText(result.text, markerSize: size).blocks {
      #expect(block.isTrimmed, "\(sides) on \(base ?? [])")
    }
  }

  /// "A block gets another side, or a line that some side had already, only where people disagree
  /// anew": three who each replace other lines in a note with a block, not all of them on the newest tip.
  @Test(arguments: 0..<4)
  func conflictsInWhichPeopleGoOn(run: Int) throws {
    let count = UInt64(max(1, MergeLawsTests.casesInARun / 20))
    let first = MergeLawsTests.firstSeed + UInt64(run) * count
    for seed in first..<first + count {
      var notes = ConflictedNote(seed: seed)
      try notes.begin()
      for round in 0..<6 {
        try notes.goOn()
        #expect(try notes.merged() == notes.expected, "seed \(seed), round \(round)")
      }
    }
  }
}

extension BlockLawsTests {
  /// "People who resolve one conflict differently, also by its sides in another order, get a conflict in which no
  /// line is twice that none of them has twice".
  @Test(arguments: 0..<4)
  func conflictsThatAreSettledDifferently(run: Int) throws {
    let count = UInt64(MergeLawsTests.casesInARun)
    let first = MergeLawsTests.firstSeed + UInt64(run) * count
    for seed in first..<first + count {
      var notes = ConflictedNote(seed: seed)
      try notes.begin()
      let (texts, merged) = try notes.settle()
      let known = texts.map(ConflictedNote.counts)
      for (line, count) in ConflictedNote.counts(merged) where count > 1 {
        #expect(known.contains { $0[line, default: 0] > 1 }, "seed \(seed): \(line) in \(merged)")
      }
    }
  }
}

extension [MarkedText.Side] {
  /// Whether the sides share neither their first nor their last line.
  var isTrimmed: Bool {
    let lines: [[String]] = map { MergeHistories.lines($0.text) }
    if lines.contains(where: \.isEmpty) { return true }
    return Set(lines.map { $0[0] }).count > 1 && Set(lines.map { $0[$0.count - 1] }).count > 1
  }
}

/// A note with a conflict, and three devices that edit different lines of it.
private struct ConflictedNote {
  private let store = MergeMemoryStore()
  private var random: SplitMix64
  /// What the tip is to hold.
  private(set) var expected: [String] = []
  private var heads: [ObjectID] = []
  /// The tips so far, and what they hold.
  private var tips: [(id: ObjectID, lines: [String])] = []
  private var time: Int64 = 1_700_000_000

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func newLine() -> String {
    (0..<3).map { _ in String(UInt64.random(in: 0..<1 << 50, using: &random), radix: 36) }
      .joined(separator: " ")
  }

  private mutating func newLines(_ counts: Range<Int>) -> [String] {
    (0..<Int.random(in: counts, using: &random)).map { _ in newLine() }
  }

  /// Two write the middle of a note anew.
  mutating func begin() throws {
    let (top, bottom) = (newLines(0..<4), newLines(0..<4))
    let root = try commit(top + newLines(1..<2) + bottom, on: [], by: "Zoe")
    heads = try ["Ann", "Bob"].map {
      try commit(top + newLines(1..<12) + bottom, on: [root], by: $0)
    }
    expected = try merged()
  }

  /// The lines of the tip.
  mutating func merged() throws -> [String] {
    let tip = try DerivedMerge.tip(of: heads, in: store)
    let lines = MergeHistories.lines(try text(of: tip.id))
    heads = tip.heads
    tips.append((tip.id, lines))
    return lines
  }

  private func text(of id: ObjectID) throws -> [UInt8] {
    let entry = try store.entry(at: "n.txt", in: store.commit(id).tree)
    return try entry.map { try store.blob($0.id) } ?? []
  }

  mutating func goOn() throws {
    var free = expected.filter { !"<=>".contains($0.first ?? " ") }.shuffled(using: &random)
    for name in ["Ann", "Bob", "Cyd"] {
      let isLate = Int.random(in: 0..<3, using: &random) == 0
      let tip = tips[max(0, tips.count - (isLate ? 2 : 1))]
      var lines = tip.lines
      for _ in 0..<Int.random(in: 1..<3, using: &random) {
        // Who is late does not know the newest lines.
        guard let place = free.lastIndex(where: lines.contains) else { break }
        let (old, new) = (free.remove(at: place), newLine())
        lines = lines.map { $0 == old ? new : $0 }
        expected = expected.map { $0 == old ? new : $0 }
      }
      heads.append(try commit(lines, on: [tip.id], by: name))
    }
  }

  /// Two or three settle the conflict of the tip, each in a way of its own.
  ///
  /// - Returns: the texts of each, and what the tip is to hold then.
  mutating func settle() throws -> (texts: [[String]], merged: [String]) {
    let tip = tips[tips.count - 1]
    let texts = (0..<Int.random(in: 2...3, using: &random)).map { _ in settled(tip.lines) }
    for (name, lines) in zip(["Ann", "Bob", "Cyd"], texts) {
      heads.append(try commit(lines, on: [tip.id], by: name))
    }
    return (texts, try merged())
  }

  /// A text with something else in place of each block.
  private mutating func settled(_ lines: [String]) -> [String] {
    var (settled, sides): ([String], [[String]]) = ([], [])
    for line in lines {
      switch line.first {
      case "<": sides = [[]]
      case "=": sides.append([])
      case ">":
        settled += choice(of: sides.shuffled(using: &random))
        sides = []
      default:
        if sides.isEmpty { settled.append(line) } else { sides[sides.count - 1].append(line) }
      }
    }
    return settled
  }

  private mutating func choice(of sides: [[String]]) -> [String] {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: sides[0] + newLines(0..<2)
    case 1: sides.joined().filter { _ in Bool.random(using: &random) }
    case 2: newLines(1..<3)
    default: Array(sides.joined())
    }
  }

  /// How often each line stands in a text; in a block, in the side that has it most often.
  static func counts(_ lines: [String]) -> [String: Int] {
    var (counts, sides): ([String: Int], [[String: Int]]) = ([:], [])
    for line in lines {
      switch line.first {
      case "<": sides = [[:]]
      case "=": sides.append([:])
      case ">":
        let most = sides.reduce([:]) { $0.merging($1, uniquingKeysWith: max) }
        counts.merge(most, uniquingKeysWith: +)
        sides = []
      default:
        if sides.isEmpty {
          counts[line, default: 0] += 1
        } else {
          sides[sides.count - 1][line, default: 0] += 1
        }
      }
    }
    return counts
  }

  private mutating func commit(
    _ lines: [String], on parents: [ObjectID], by name: String
  ) throws -> ObjectID {
    time += 1
    let blob = try store.write(blob: Array(lines.map { $0 + "\n" }.joined().utf8))
    let tree = try store.write(
      tree: [TreeEntry(name: TreePath("n.txt"), mode: .regular, id: blob)])
    let author = Signature(
      name: name, email: "\(name.lowercased())@notes.invalid", time: time, offset: 0)
    let trailers = try OpenConflicts.carried(
      from: parents.map { try store.commit($0) }, to: tree, in: store)
    return try store.write(
      commit: tree, parents: parents, author: author, committer: author,
      message: "Edit \(time)\n\n" + trailers.lines().joined(separator: "\n") + "\n")
  }
}
