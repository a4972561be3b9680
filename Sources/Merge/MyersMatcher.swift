/// A shortest edit between two sequences, found greedily from the front: notes-merge(7), "Matching
/// tokens".
enum MyersMatcher {
  /// The most insertions and deletions of an edit that is searched.
  static let editLimit = 1024

  /// Pairs the elements of the two parts; returns false without pairing if there are more than
  /// `editLimit` insertions and deletions between them.
  static func match(
    _ a: [Int], _ b: [Int], positionsA: [Int], positionsB: [Int], into matching: inout Matching
  ) -> Bool {
    var (start, endA, endB) = (0, a.count, b.count)
    while start < endA, start < endB, a[start] == b[start] { start += 1 }
    while start < endA, start < endB, a[endA - 1] == b[endB - 1] {
      endA -= 1
      endB -= 1
    }
    guard let path = path(Array(a[start..<endA]), Array(b[start..<endB])) else { return false }
    for i in 0..<start { matching.pair(positionsA[i], positionsB[i]) }
    for (i, j) in path { matching.pair(positionsA[start + i], positionsB[start + j]) }
    for k in 0..<a.count - endA { matching.pair(positionsA[endA + k], positionsB[endB + k]) }
    return true
  }

  /// Matches two parts whose common lines are all too frequent to be anchors: lines that only one part has are
  /// set aside first.
  static func matchCommonLines(
    _ a: [Int], _ b: [Int], _ part: HistogramMatcher.Part, into matching: inout Matching
  ) {
    let (inA, inB) = (Set(a[part.a]), Set(b[part.b]))
    let positionsA = part.a.filter { inB.contains(a[$0]) }
    let positionsB = part.b.filter { inA.contains(b[$0]) }
    let isFound = match(
      positionsA.map { a[$0] }, positionsB.map { b[$0] }, positionsA: positionsA,
      positionsB: positionsB, into: &matching)
    if !isFound { UniqueLineMatcher.match(a, b, part, into: &matching) }
  }

  /// The fewest insertions and deletions between `a` and `b`; nil above the limit.
  ///
  /// - Parameter visit: called, for each number d of edits, with the furthest position in `a` on
  ///   each diagonal (the position in `a` minus that in `b`) from -d to d.
  static func distance<Element: Equatable>(
    _ a: [Element], _ b: [Element], atMost limit: Int, _ visit: (ArraySlice<Int>) -> Void = { _ in }
  ) -> Int? {
    var reach = Array(repeating: 0, count: 2 * limit + 3)
    let middle = limit + 1
    for d in 0...limit {
      for k in stride(from: -d, through: d, by: 2) {
        var i = 0
        if d > 0 {
          i =
            inserts(d, k, from: reach[middle + k - 1], reach[middle + k + 1])
            ? reach[middle + k + 1] : reach[middle + k - 1] + 1
        }
        var j = i - k
        while i < a.count, j < b.count, a[i] == b[j] {
          i += 1
          j += 1
        }
        reach[middle + k] = i
        if i >= a.count, j >= b.count {
          visit(reach[(middle - d)...(middle + d)])
          return d
        }
      }
      visit(reach[(middle - d)...(middle + d)])
    }
    return nil
  }

  /// Whether the last of `d` edits is an insertion: for equal positions a deletion is preferred.
  private static func inserts(_ d: Int, _ k: Int, from below: Int, _ above: Int) -> Bool {
    k == -d || (k != d && below + 1 < above)
  }

  /// The matched pairs of a shortest edit; nil above the limit.
  private static func path(_ a: [Int], _ b: [Int]) -> [(Int, Int)]? {
    if a.isEmpty || b.isEmpty { return a.count + b.count > editLimit ? nil : [] }
    var reaches: [[Int]] = []
    let limit = min(editLimit, a.count + b.count)
    guard distance(a, b, atMost: limit, { reaches.append(Array($0)) }) != nil else { return nil }
    var pairs: [(Int, Int)] = []
    var (i, j) = (a.count, b.count)
    for d in stride(from: reaches.count - 1, to: 0, by: -1) {
      let k = i - j
      func reach(_ diagonal: Int) -> Int {
        abs(diagonal) > d - 1 ? -1 : reaches[d - 1][diagonal + d - 1]
      }
      let isInsertion = inserts(d, k, from: reach(k - 1), reach(k + 1))
      let start = isInsertion ? reach(k + 1) : reach(k - 1) + 1
      while i > start {
        i -= 1
        j -= 1
        pairs.append((i, j))
      }
      if isInsertion { j -= 1 } else { i -= 1 }
    }
    while i > 0, j > 0 {
      i -= 1
      j -= 1
      pairs.append((i, j))
    }
    return pairs.reversed()
  }
}
