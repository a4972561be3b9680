internal import System

/// Pairs lines around the longest common run whose lines are rarest in `a`, then continues before
/// and after it: notes-merge(7), "Matching lines".
struct HistogramMatcher {
  /// Lines that occur more often than this in the current part of `a` are not used as anchors.
  static let mostOccurrences = 64
  /// After this many steps, the remaining parts are matched by `UniqueLineMatcher`.
  static let stepLimit = 1 << 21

  typealias Part = (a: Range<Int>, b: Range<Int>)

  private let a: [Int]
  private let b: [Int]
  private var matching: Matching
  // For each symbol, its first position in the current part of `a`, and its number of occurrences
  // there.
  private var first: [Int]
  private var occurrences: [Int]
  /// For each position in `a`, the next one with the same symbol.
  private var next: [Int]
  private var steps = 0

  init(a: [Int], b: [Int], symbolCount: Int) {
    (self.a, self.b) = (a, b)
    matching = Matching(a, b)
    first = Array(repeating: -1, count: symbolCount)
    occurrences = Array(repeating: 0, count: symbolCount)
    next = Array(repeating: -1, count: a.count)
  }

  mutating func run() -> Matching {
    var parts: [Part] = [(a.indices, b.indices)]
    while let part = parts.popLast() {
      if part.a.isEmpty || part.b.isEmpty { continue }
      if steps > Self.stepLimit {
        UniqueLineMatcher.match(a, b, part, into: &matching)
        continue
      }
      steps += part.a.count
      for i in part.a.reversed() {
        next[i] = first[a[i]]
        first[a[i]] = i
        occurrences[a[i]] += 1
      }
      let anchor = findAnchor(part)
      for i in part.a { (first[a[i]], occurrences[a[i]]) = (-1, 0) }
      switch anchor {
      case .none: break
      case .tooCommon: MyersMatcher.matchCommonLines(a, b, part, into: &matching)
      case .run(let run):
        for (i, j) in zip(run.a, run.b) { matching.pair(i, j) }
        parts.append((run.a.upperBound..<part.a.upperBound, run.b.upperBound..<part.b.upperBound))
        parts.append((part.a.lowerBound..<run.a.lowerBound, part.b.lowerBound..<run.b.lowerBound))
      }
    }
    return matching
  }

  private enum Anchor {
    case none
    case tooCommon
    case run(Part)
  }

  private mutating func findAnchor(_ part: Part) -> Anchor {
    var best: Part?
    var longest = 1
    var lowest = Self.mostOccurrences + 1
    var hasCommon = false
    var j = part.b.lowerBound
    while j < part.b.upperBound {
      var nextJ = j + 1
      steps += 1
      var i = first[b[j]]
      if i >= 0 { hasCommon = true }
      if occurrences[b[j]] > lowest { i = -1 }
      while i >= 0 {
        let (run, rarest) = commonRun(around: i, j, in: part)
        steps += run.a.count
        nextJ = max(nextJ, run.b.upperBound)
        if run.a.count > longest || rarest < lowest {
          (best, longest, lowest) = (run, run.a.count, rarest)
        }
        while i >= 0, i < run.a.upperBound { i = next[i] }
      }
      j = nextJ
    }
    guard hasCommon else { return .none }
    guard lowest <= Self.mostOccurrences, let best else { return .tooCommon }
    return .run(best)
  }

  /// The common run of lines around two equal lines, and the number of occurrences of its rarest
  /// line.
  private func commonRun(around i: Int, _ j: Int, in part: Part) -> (run: Part, rarest: Int) {
    var (startA, startB, endA, endB) = (i, j, i + 1, j + 1)
    var rarest = occurrences[a[i]]
    while startA > part.a.lowerBound, startB > part.b.lowerBound, a[startA - 1] == b[startB - 1] {
      startA -= 1
      startB -= 1
      rarest = min(rarest, occurrences[a[startA]])
    }
    while endA < part.a.upperBound, endB < part.b.upperBound, a[endA] == b[endB] {
      rarest = min(rarest, occurrences[a[endA]])
      endA += 1
      endB += 1
    }
    return ((startA..<endA, startB..<endB), rarest)
  }
}

/// The rule for inputs on which better rules would take too long. It pairs the common beginning and end of two
/// parts, then the lines that occur once in each, along a longest increasing sequence.
enum UniqueLineMatcher {
  static func match(
    _ a: [Int], _ b: [Int], _ part: HistogramMatcher.Part, into matching: inout Matching
  ) {
    var (startA, endA) = (part.a.lowerBound, part.a.upperBound)
    var (startB, endB) = (part.b.lowerBound, part.b.upperBound)
    while startA < endA, startB < endB, a[startA] == b[startB] {
      matching.pair(startA, startB)
      startA += 1
      startB += 1
    }
    while startA < endA, startB < endB, a[endA - 1] == b[endB - 1] {
      endA -= 1
      endB -= 1
      matching.pair(endA, endB)
    }
    let uniqueB = unique(b, startB..<endB)
    let pairs = unique(a, startA..<endA).compactMap { line, i in uniqueB[line].map { (i, $0) } }
    for (i, j) in increasing(pairs.sorted { $0.0 < $1.0 }) { matching.pair(i, j) }
  }

  /// The lines that occur once in a part, and their positions.
  private static func unique(_ lines: [Int], _ part: Range<Int>) -> [Int: Int] {
    // A line that occurs again has no position.
    var places: [Int: Int?] = [:]
    for place in part {
      if places.updateValue(place, forKey: lines[place]) != nil {
        places.updateValue(nil, forKey: lines[place])
      }
    }
    return places.compactMapValues { $0 }
  }

  /// A longest subsequence in which the second members increase; of several, the one that patience
  /// sorting finds, with the smallest last members.
  private static func increasing(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
    var piles: [Int] = []
    var previous = Array(repeating: -1, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      let pile = piles.partitionPoint { pairs[$0].1 < pair.1 }
      previous[index] = pile > 0 ? piles[pile - 1] : -1
      if pile == piles.count { piles.append(index) } else { piles[pile] = index }
    }
    var chosen: [(Int, Int)] = []
    var index = piles.last ?? -1
    while index >= 0 {
      chosen.append(pairs[index])
      index = previous[index]
    }
    return chosen.reversed()
  }
}
