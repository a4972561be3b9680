/// Several sequences divided into stretches in which all agree with a reference, and stretches in
/// which some differ: notes-merge(7), "Regions".
struct Alignment {
  enum Part {
    /// A stretch of the reference that every term shares.
    case same(Range<Int>)
    /// For each term, its stretch at this place.
    case different([Range<Int>])
  }

  private(set) var parts: [Part] = []
  /// The differences of each term from the reference.
  let hunks: [[Hunk]]

  /// - Parameter parts: whether lines of the reference on which all terms agree separate the stretches before
  ///   and after them. If not, all three become one stretch.
  init(
    terms: [[Int32]], reference: Int, parts isParting: (ArraySlice<Int32>) -> Bool = { _ in true }
  ) {
    hunks = terms.map { LineMatching.hunks(from: terms[reference], to: $0) }
    // For each term, the next hunk, and the offset of its positions from the reference's.
    var nextHunk = Array(repeating: 0, count: terms.count)
    var shift = Array(repeating: 0, count: terms.count)
    var end = 0
    for span in Self.spans(of: hunks, { isParting(terms[reference][$0]) }) {
      if span.lowerBound > end { parts.append(.same(end..<span.lowerBound)) }
      let ranges = terms.indices.map { term in
        let start = span.lowerBound + shift[term]
        let touching = hunks[term][nextHunk[term]...].prefix { $0.a.lowerBound <= span.upperBound }
        for hunk in touching {
          shift[term] = hunk.b.upperBound - hunk.a.upperBound
          nextHunk[term] += 1
        }
        return start..<span.upperBound + shift[term]
      }
      parts.append(.different(ranges))
      end = span.upperBound
    }
    if end < terms[reference].count { parts.append(.same(end..<terms[reference].count)) }
  }

  /// The stretches of the reference that hunks cover; hunks that overlap or touch, or are not
  /// separated, share one.
  private static func spans(
    of hunks: [[Hunk]], _ isParting: (Range<Int>) -> Bool
  ) -> [ClosedRange<Int>] {
    var spans: [ClosedRange<Int>] = []
    for range in hunks.joined().map(\.a).sorted(by: { $0.precedes($1) }) {
      if let last = spans.last,
        range.lowerBound <= last.upperBound || !isParting(last.upperBound..<range.lowerBound)
      {
        spans[spans.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        spans.append(range.lowerBound...range.upperBound)
      }
    }
    return spans
  }
}
