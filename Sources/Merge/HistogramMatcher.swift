/// Pairs lines around the longest common run whose lines are rarest in `a`, then goes on to the
/// left and to the right of it: notes-merge(7), "Matching lines".
struct HistogramMatcher {
  /// Lines that occur more often than this in the part of `a` at hand are no anchors.
  static let mostOccurrences = 64
  /// Steps after which the parts that remain are matched by `UniqueLineMatcher`.
  static let stepLimit = 1 << 21

  private struct Part {
    var a: Range<Int>
    var b: Range<Int>
  }

  private let a: [Int32]
  private let b: [Int32]
  private var matching: Matching
  // Per symbol: its first position in the part of `a`, and how often it occurs there.
  private var first: [Int32]
  private var occurrences: [Int32]
  // Per position of `a`: the next position with the same symbol.
  private var next: [Int32]
  private var steps = 0

  init(a: [Int32], b: [Int32], symbolCount: Int) {
    self.a = a
    self.b = b
    matching = Matching(countA: a.count, countB: b.count)
    first = Array(repeating: -1, count: symbolCount)
    occurrences = Array(repeating: 0, count: symbolCount)
    next = Array(repeating: -1, count: a.count)
  }

  mutating func run() -> Matching {
    var parts = [Part(a: 0..<a.count, b: 0..<b.count)]
    while let part = parts.popLast() {
      if part.a.isEmpty || part.b.isEmpty { continue }
      if steps > Self.stepLimit {
        UniqueLineMatcher.match(a, part.a, b, part.b, into: &matching)
        continue
      }
      index(part.a)
      let anchor = findAnchor(part)
      for i in part.a {
        first[Int(a[i])] = -1
        occurrences[Int(a[i])] = 0
      }
      switch anchor {
      case .none: break
      case .tooCommon:
        MyersMatcher.matchCommonLines(a, part.a, b, part.b, into: &matching)
      case .run(let startA, let startB, let length):
        for k in 0..<length { matching.pair(startA + k, startB + k) }
        parts.append(
          Part(
            a: startA + length..<part.a.upperBound, b: startB + length..<part.b.upperBound))
        parts.append(
          Part(a: part.a.lowerBound..<startA, b: part.b.lowerBound..<startB))
      }
    }
    return matching
  }

  private mutating func index(_ part: Range<Int>) {
    for i in part.reversed() {
      let symbol = Int(a[i])
      next[i] = first[symbol]
      first[symbol] = Int32(i)
      occurrences[symbol] += 1
    }
    steps += part.count
  }

  private enum Anchor {
    case none
    case tooCommon
    case run(startA: Int, startB: Int, length: Int)
  }

  private mutating func findAnchor(_ part: Part) -> Anchor {
    var best: (startA: Int, startB: Int, length: Int)?
    var bestLength = 1
    var lowest = Int32(Self.mostOccurrences + 1)
    var hasCommon = false
    var j = part.b.lowerBound
    while j < part.b.upperBound {
      var nextJ = j + 1
      steps += 1
      let symbol = Int(b[j])
      var candidate = Int(first[symbol])
      if candidate >= 0 { hasCommon = true }
      if occurrences[symbol] > lowest { candidate = -1 }
      while candidate >= 0 {
        var startA = candidate
        var startB = j
        var endA = candidate + 1
        var endB = j + 1
        var rarest = occurrences[symbol]
        while startA > part.a.lowerBound, startB > part.b.lowerBound,
          a[startA - 1] == b[startB - 1]
        {
          startA -= 1
          startB -= 1
          rarest = min(rarest, occurrences[Int(a[startA])])
        }
        while endA < part.a.upperBound, endB < part.b.upperBound, a[endA] == b[endB] {
          rarest = min(rarest, occurrences[Int(a[endA])])
          endA += 1
          endB += 1
        }
        steps += endA - startA
        nextJ = max(nextJ, endB)
        if endA - startA > bestLength || rarest < lowest {
          best = (startA, startB, endA - startA)
          bestLength = endA - startA
          lowest = rarest
        }
        candidate = Int(next[candidate])
        while candidate >= 0, candidate < endA { candidate = Int(next[candidate]) }
      }
      j = nextJ
    }
    guard hasCommon else { return .none }
    guard lowest <= Self.mostOccurrences, let best else { return .tooCommon }
    return .run(startA: best.startA, startB: best.startB, length: best.length)
  }
}
