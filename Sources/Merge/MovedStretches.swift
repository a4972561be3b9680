extension Alignment {
  /// The parts; two parts become one, with all between them, if a line moved from one to the other. Such a line
  /// has letters, occurs at most once in each term, and is in both parts. notes-merge(7), "Blocks that meet".
  ///
  /// - Parameter mayMove: whether a line is distinctive enough to be recognised at another place.
  func partsJoiningMoved(of terms: [[Int32]], _ mayMove: (Int32) -> Bool) -> [Part] {
    var repeated: Set<Int32> = []
    for term in terms {
      var seen: Set<Int32> = []
      for line in term where !seen.insert(line).inserted { repeated.insert(line) }
    }
    var places: [Int32: ClosedRange<Int>] = [:]
    for (index, part) in parts.enumerated() {
      guard case .different(let ranges) = part else { continue }
      for line in zip(terms, ranges).flatMap({ $0[$1] })
      where mayMove(line) && !repeated.contains(line) {
        places[line] = (places[line]?.lowerBound ?? index)...index
      }
    }
    var joined: [Part] = []
    var position = 0
    for span in Self.overlapping(places.values.filter { $0.count > 1 }) {
      guard case .different(let first) = parts[span.lowerBound],
        case .different(let last) = parts[span.upperBound]
      else { continue }
      joined += parts[position..<span.lowerBound]
      joined.append(.different(zip(first, last).map { $0.lowerBound..<$1.upperBound }))
      position = span.upperBound + 1
    }
    return joined + parts[position...]
  }

  /// The ranges in order, with overlapping ones combined.
  private static func overlapping(_ ranges: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
    var joined: [ClosedRange<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }
}
