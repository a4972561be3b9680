/// Pairs what two parts share at their start and end, and then the lines that occur once in each,
/// along a longest increasing sequence: the rule for inputs on which better ones would take too
/// long, notes-merge(7), "Matching lines".
enum UniqueLineMatcher {
  static func match(
    _ a: [Int32], _ partA: Range<Int>, _ b: [Int32], _ partB: Range<Int>,
    into matching: inout Matching
  ) {
    var (startA, endA) = (partA.lowerBound, partA.upperBound)
    var (startB, endB) = (partB.lowerBound, partB.upperBound)
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
    for (i, j) in increasing(uniquePairs(a, startA..<endA, b, startB..<endB)) {
      matching.pair(i, j)
    }
  }

  /// The positions of lines that occur once in each part, in the order of `a`.
  private static func uniquePairs(
    _ a: [Int32], _ partA: Range<Int>, _ b: [Int32], _ partB: Range<Int>
  ) -> [(Int, Int)] {
    var places: [Int32: (inA: Int, inB: Int)] = [:]
    for i in partA {
      places[a[i], default: (-1, -1)].inA = places[a[i]] == nil ? i : -2
    }
    for j in partB where places[b[j]] != nil {
      let seen = places[b[j]]?.inB ?? -2
      places[b[j]]?.inB = seen == -1 ? j : -2
    }
    return partA.compactMap { i in
      guard let place = places[a[i]], place.inA == i, place.inB >= 0 else { return nil }
      return (i, place.inB)
    }
  }

  /// A longest subsequence in which the second members increase: of several, the one that patience
  /// sorting finds, whose last members are smallest.
  private static func increasing(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
    var piles: [Int] = []
    var previous = Array(repeating: -1, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var (low, high) = (0, piles.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[piles[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? piles[low - 1] : -1
      if low == piles.count { piles.append(index) } else { piles[low] = index }
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
