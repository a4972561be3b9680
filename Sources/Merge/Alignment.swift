/// Several sequences cut into stretches on which all agree with a reference and stretches on which
/// some differ: notes-merge(7), "Regions".
struct Alignment {
  enum Part {
    /// A stretch of the reference that every term shares.
    case same(Range<Int>)
    /// For each term the stretch that stands at this place.
    case different([Range<Int>])
  }

  private(set) var parts: [Part] = []
  /// For each term its differences from the reference.
  let hunks: [[Hunk]]

  /// - Parameter parts: tells whether lines of the reference on which all agree part the stretches
  ///   before and after them; otherwise the three are one.
  init(
    terms: [[Int32]], reference: Int, parts isParting: (ArraySlice<Int32>) -> Bool = { _ in true }
  ) {
    hunks = terms.map { LineMatching.hunks(from: terms[reference], to: $0) }
    // Per term: the next hunk, and how far its positions are ahead of the reference's.
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

  /// The stretches of the reference that some hunk covers; hunks that overlap or touch, or that
  /// nothing parts, share one.
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
