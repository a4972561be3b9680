/// A run of `a` and the run of `b` that replaces it; either may be empty.
package struct Hunk: Hashable, Sendable {
  package var a: Range<Int>
  package var b: Range<Int>
}

extension Hunk {
  /// The stretches of a base that hunks cover. Overlapping stretches are combined. Touching ones are combined
  /// only if the later one begins with a line that belongs to the line before it.
  static func overlaps(of hunks: [Hunk], isPart: (Int) -> Bool) -> [Range<Int>] {
    var spans: [Range<Int>] = []
    for range in hunks.map(\.a).sorted(by: { $0.precedes($1) }) where range != spans.last {
      if let last = spans.last,
        range.lowerBound < last.upperBound
          || range.lowerBound == last.upperBound && !range.isEmpty && isPart(range.lowerBound)
      {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        spans.append(range)
      }
    }
    return spans
  }

  /// A side's lines for a stretch of a base.
  static func edited(
    _ span: Range<Int>, of base: [Int32], by hunks: [Hunk], from side: [Int32]
  ) -> [Int32] {
    var lines: [Int32] = []
    var position = span.lowerBound
    for hunk in hunks
    where hunk.a == span
      || hunk.a.lowerBound < span.upperBound && hunk.a.upperBound > span.lowerBound
    {
      lines += base[position..<hunk.a.lowerBound] + side[hunk.b]
      position = hunk.a.upperBound
    }
    return lines + base[position..<span.upperBound]
  }
}

/// The rule for pairing lines: notes-merge(7), "Matching lines".
package enum LineMatching {
  /// The differences between `a` and `b`, which are line numbers of one `LineTable`.
  package static func hunks(from a: [Int32], to b: [Int32]) -> [Hunk] {
    if a == b { return [] }
    // The matcher's tables are as large as the largest number, so the numbers are renumbered from
    // 0.
    var numbers = SmallNumbers(of: a, and: b)
    func small(_ lines: [Int32]) -> [Int] { lines.map { numbers.number(of: $0) } }
    let (smallA, smallB) = (small(a), small(b))
    var matcher = HistogramMatcher(a: smallA, b: smallB, symbolCount: numbers.count)
    return matcher.run().hunks
  }
}

/// Numbers from 0 for the elements of two sequences, in the order of their first occurrence.
private struct SmallNumbers {
  private(set) var count = 0
  /// An array by number, if most numbers are used: a dictionary would use ten times as much memory.
  private var dense: [Int32]
  private var sparse: [Int32: Int] = [:]

  init(of a: [Int32], and b: [Int32]) {
    let most = Int(max(a.max() ?? 0, b.max() ?? 0))
    dense = most < 4 * (a.count + b.count) ? Array(repeating: -1, count: most + 1) : []
  }

  mutating func number(of line: Int32) -> Int {
    let known = dense.isEmpty ? sparse[line] : dense[Int(line)] < 0 ? nil : Int(dense[Int(line)])
    if let known { return known }
    if dense.isEmpty { sparse[line] = count } else { dense[Int(line)] = Int32(count) }
    count += 1
    return count - 1
  }
}

/// Differences between sequences of tokens: notes-merge(7), "Matching tokens".
enum TokenMatching {
  static func hunks(from a: [Int32], to b: [Int32]) -> [Hunk]? {
    let (a, b) = (a.map { Int($0) }, b.map { Int($0) })
    var matching = Matching(a, b)
    let isFound = MyersMatcher.match(
      a, b, positionsA: Array(a.indices), positionsB: Array(b.indices), into: &matching)
    return isFound ? matching.hunks : nil
  }
}

/// The paired elements of two sequences, one to one and in order.
struct Matching {
  private let a: [Int]
  private let b: [Int]
  private var isPairedA: [Bool]
  private var isPairedB: [Bool]

  init(_ a: [Int], _ b: [Int]) {
    (self.a, self.b) = (a, b)
    isPairedA = Array(repeating: false, count: a.count)
    isPairedB = Array(repeating: false, count: b.count)
  }

  mutating func pair(_ i: Int, _ j: Int) {
    isPairedA[i] = true
    isPairedB[j] = true
  }

  /// The unpaired runs, in order, moved to where a person would see the edit.
  var hunks: [Hunk] {
    var (runsA, runsB) = (Self.runs(isPairedA), Self.runs(isPairedB))
    Self.slide(&runsA, in: a, against: runsB)
    Self.slide(&runsB, in: b, against: runsA)
    var hunks: [Hunk] = []
    var (i, j) = (0, 0)
    for (countA, countB) in zip(runsA, runsB) {
      if countA > 0 || countB > 0 { hunks.append(Hunk(a: i..<i + countA, b: j..<j + countB)) }
      i += countA + 1
      j += countB + 1
    }
    return hunks
  }

  /// How many unpaired elements there are before the first pair, between each two, and after the
  /// last.
  private static func runs(_ isPaired: [Bool]) -> [Int] {
    var runs = [0]
    for isPaired in isPaired {
      if isPaired { runs.append(0) } else { runs[runs.count - 1] += 1 }
    }
    return runs
  }

  /// Moves each run down as far as possible, or back to the last place at which it is opposite a
  /// run of the other sequence.
  private static func slide(_ runs: inout [Int], in elements: [Int], against other: [Int]) {
    var (run, end) = (0, runs[0])
    func slideUp() -> Bool {
      guard run > 0, elements[end - runs[run] - 1] == elements[end - 1] else { return false }
      runs[run - 1] += runs[run]
      runs[run] = 0
      run -= 1
      end -= 1
      return true
    }
    func slideDown() -> Bool {
      guard run + 1 < runs.count, elements[end - runs[run]] == elements[end] else { return false }
      end += 1 + runs[run + 1]
      runs[run + 1] += runs[run]
      runs[run] = 0
      run += 1
      return true
    }
    while true {
      if runs[run] > 0 {
        var (size, facesOther) = (0, false)
        repeat {
          size = runs[run]
          while slideUp() {}
          facesOther = other[run] > 0
          while slideDown() { facesOther = facesOther || other[run] > 0 }
        } while size != runs[run]
        if facesOther { while other[run] == 0, slideUp() {} }
      }
      guard run + 1 < runs.count else { return }
      run += 1
      end += 1 + runs[run]
    }
  }
}
