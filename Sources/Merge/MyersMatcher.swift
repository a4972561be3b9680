/// A shortest edit between two sequences, found greedily from the front: notes-merge(7),
/// "Matching tokens".
enum MyersMatcher {
  /// Edits beyond this many insertions and deletions are not looked for.
  static let editLimit = 1024

  /// Pairs the elements of the two parts, or returns false and pairs nothing when more than
  /// `editLimit` insertions and deletions lie between them.
  static func match(
    _ a: [Int32], _ b: [Int32], positionsA: [Int], positionsB: [Int],
    into matching: inout Matching
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

  /// Matches two parts whose common lines are all too frequent to anchor on: lines that only one
  /// part has are set aside first.
  static func matchCommonLines(
    _ a: [Int32], _ partA: Range<Int>, _ b: [Int32], _ partB: Range<Int>,
    into matching: inout Matching
  ) {
    let inA = Set(a[partA])
    let inB = Set(b[partB])
    let positionsA = partA.filter { inB.contains(a[$0]) }
    let positionsB = partB.filter { inA.contains(b[$0]) }
    let found = match(
      positionsA.map { a[$0] }, positionsB.map { b[$0] }, positionsA: positionsA,
      positionsB: positionsB, into: &matching)
    if !found { UniqueLineMatcher.match(a, partA, b, partB, into: &matching) }
  }

  /// The matched pairs of a shortest edit, or nil beyond the limit.
  ///
  /// `reach[d][k]` is how far into `a` a path with `d` edits comes on diagonal `k` = i − j. At equal
  /// reach a deletion is preferred as the last edit.
  private static func path(_ a: [Int32], _ b: [Int32]) -> [(Int, Int)]? {
    if a.isEmpty || b.isEmpty { return a.count + b.count > editLimit ? nil : [] }
    let limit = min(editLimit, a.count + b.count)
    var reach: [[Int]] = []
    var current = Array(repeating: 0, count: 2 * limit + 3)
    let middle = limit + 1
    for d in 0...limit {
      for k in stride(from: -d, through: d, by: 2) {
        var i: Int
        if k == -d || (k != d && current[middle + k - 1] + 1 < current[middle + k + 1]) {
          i = current[middle + k + 1]
        } else {
          i = current[middle + k - 1] + 1
        }
        if d == 0 { i = 0 }
        var j = i - k
        while i < a.count, j < b.count, j >= 0, a[i] == b[j] {
          i += 1
          j += 1
        }
        current[middle + k] = i
        if i >= a.count, j >= b.count {
          reach.append(Array(current[(middle - d)...(middle + d)]))
          return trace(reach, a.count, b.count)
        }
      }
      reach.append(Array(current[(middle - d)...(middle + d)]))
    }
    return nil
  }

  private static func trace(_ reach: [[Int]], _ countA: Int, _ countB: Int) -> [(Int, Int)] {
    var pairs: [(Int, Int)] = []
    var (i, j) = (countA, countB)
    for d in stride(from: reach.count - 1, to: 0, by: -1) {
      let k = i - j
      func at(_ diagonal: Int) -> Int {
        abs(diagonal) > d - 1 ? -1 : reach[d - 1][diagonal + d - 1]
      }
      let inserts = k == -d || (k != d && at(k - 1) + 1 < at(k + 1))
      let start = inserts ? at(k + 1) : at(k - 1) + 1
      while i > start {
        i -= 1
        j -= 1
        pairs.append((i, j))
      }
      if inserts { j -= 1 } else { i -= 1 }
    }
    while i > 0, j > 0 {
      i -= 1
      j -= 1
      pairs.append((i, j))
    }
    return pairs.reversed()
  }
}
