/// A run of `a` and the run of `b` that stands in its place; either may be empty.
package struct Hunk: Hashable, Sendable {
  package var a: Range<Int>
  package var b: Range<Int>
}

/// Which elements of two sequences are left without a partner by a matching.
///
/// The elements that are not marked pair up one to one, in order.
struct Matching: Sendable {
  var changedA: [Bool]
  var changedB: [Bool]

  /// Everything unmatched.
  init(countA: Int, countB: Int) {
    changedA = Array(repeating: true, count: countA)
    changedB = Array(repeating: true, count: countB)
  }

  mutating func pair(_ i: Int, _ j: Int) {
    changedA[i] = false
    changedB[j] = false
  }

  /// The unmatched runs, in order.
  var hunks: [Hunk] {
    var hunks: [Hunk] = []
    var i = 0
    var j = 0
    while i < changedA.count || j < changedB.count {
      let startA = i
      let startB = j
      while i < changedA.count, changedA[i] { i += 1 }
      while j < changedB.count, changedB[j] { j += 1 }
      if i > startA || j > startB { hunks.append(Hunk(a: startA..<i, b: startB..<j)) }
      if i < changedA.count { i += 1 }
      if j < changedB.count { j += 1 }
    }
    return hunks
  }
}

/// How lines are paired: notes-merge(7), "Matching lines".
package enum LineMatching {
  /// The differences from `a` to `b`, whose elements are numbers below `symbolCount`.
  package static func hunks(from a: [Int32], to b: [Int32], symbolCount: Int) -> [Hunk] {
    if a == b { return [] }
    if symbolCount > 4 * (a.count + b.count) {
      // The matcher's tables are as large as the numbers are.
      var numbers: [Int32: Int32] = [:]
      func renumbered(_ lines: [Int32]) -> [Int32] {
        lines.map { line in
          if let known = numbers[line] { return known }
          let next = Int32(numbers.count)
          numbers[line] = next
          return next
        }
      }
      let (smallA, smallB) = (renumbered(a), renumbered(b))
      return hunks(from: smallA, to: smallB, symbolCount: numbers.count)
    }
    var matcher = HistogramMatcher(a: a, b: b, symbolCount: symbolCount)
    var matching = matcher.run()
    Compaction.compact(a, &matching.changedA, against: matching.changedB)
    Compaction.compact(b, &matching.changedB, against: matching.changedA)
    return matching.hunks
  }
}
