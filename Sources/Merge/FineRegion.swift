/// A region with two sides and one base, merged by finer rules than whole lines: notes-merge(7),
/// "Fine-grained merge".
struct FineRegion {
  /// The result for a part of the region.
  enum Piece {
    case settled([Int32])
    /// A conflict block is needed.
    case open(older: [Int32], newer: [Int32])
  }

  /// The result of the rules.
  struct Outcome {
    var pieces: [Piece]
    var rules: MergeRules

    init(_ lines: [Int32], by rules: MergeRules) {
      (pieces, self.rules) = ([.settled(lines)], rules)
    }

    init(pieces: [Piece], rules: MergeRules) { (self.pieces, self.rules) = (pieces, rules) }

    /// The lines of all pieces without a conflict.
    var settled: [Int32] {
      pieces.flatMap { piece -> [Int32] in
        if case .settled(let lines) = piece { lines } else { [] }
      }
    }

    var isWhole: Bool {
      pieces.allSatisfy { if case .settled = $0 { true } else { false } }
    }
  }

  private let base: [Int32]
  private let older: [Int32]
  private let newer: [Int32]
  /// The lines around the base.
  private let context: InsertionContext
  private let rules: MergeRules

  /// Regions with more lines than this are not merged finely.
  static let mostLines = 2000
  /// Regions with more bytes than this are not merged finely.
  static let mostBytes = 1 << 20
  /// An insertion keeps its place if at most this many lines beside it were replaced by dissimilar
  /// ones.
  static let mostLinesMadeOver = 3

  /// The pieces into which the rules merge two sides, or parts of them; nil if the whole region is a
  /// conflict.
  static func merge(
    base: [Int32], older: [Int32], newer: [Int32], context: InsertionContext, rules: MergeRules,
    table: inout LineTable
  ) -> Outcome? {
    let region = FineRegion(
      base: base, older: older, newer: newer, context: context, rules: rules)
    let isSmall = [base, older, newer].allSatisfy { Self.isSmall($0, table) }
    if isSmall, rules.contains(.words), table.areWrapped(older, newer) {
      return Outcome(newer, by: .words)
    }
    if context.isAtStart, rules.contains(.joinedInsertions), FrontMatter(base, table) == nil,
      let ours = FrontMatter(older, table), let theirs = FrontMatter(newer, table)
    {
      return ours.joined(with: theirs, base: base, in: context, rules: rules, table: &table)
    }
    if isSmall,
      let outcome = NumberedList.merge(
        base: base, older: older, newer: newer, context: context, rules: rules, table: &table)
    {
      return outcome
    }
    if base.isEmpty { return region.joined(&table) }
    guard isSmall else { return nil }
    let hunks = (
      older: LineMatching.hunks(from: base, to: older),
      newer: LineMatching.hunks(from: base, to: newer)
    )
    if losesPlace(base, older, hunks.older, beside: hunks.newer, of: newer, table)
      || losesPlace(base, newer, hunks.newer, beside: hunks.older, of: older, table)
    {
      return nil
    }
    let parts =
      rules.contains(.touchingLines) ? region.mergedByParts(hunks.older, hunks.newer, &table) : nil
    if let parts, parts.isWhole { return parts }
    if rules.contains(.words), let lines = region.mergedByWords(&table) {
      return Outcome(lines, by: .words)
    }
    // An insertion cannot be an edit of blank lines.
    if base.allSatisfy(table.isBlank), let joined = region.joined(&table) { return joined }
    return parts
  }

  /// The pieces for two sides: the changed lines if only one side changed the base, or both changed it alike;
  /// otherwise the result of the rules, or an open piece.
  static func threeWay(
    base: [Int32], older: [Int32], newer: [Int32], context: InsertionContext, rules: MergeRules,
    table: inout LineTable
  ) -> Outcome {
    if base == newer || older == newer { return Outcome(older, by: []) }
    if base == older { return Outcome(newer, by: []) }
    return merge(
      base: base, older: older, newer: newer, context: context, rules: rules, table: &table)
      ?? Outcome(pieces: [.open(older: older, newer: newer)], rules: [])
  }

  /// Whether the place of an insertion is lost: the other side replaced more than a few lines beside
  /// it by dissimilar ones, or deleted its parent.
  private static func losesPlace(
    _ base: [Int32], _ side: [Int32], _ hunks: [Hunk], beside others: [Hunk], of otherSide: [Int32],
    _ table: LineTable
  ) -> Bool {
    let places = Set(others.map(\.a).filter(\.isEmpty).map(\.lowerBound))
    func isOrphaned(_ hunk: Hunk) -> Bool {
      guard
        let child = others.first(where: { $0.a.isEmpty && $0.a.lowerBound == hunk.a.upperBound }),
        let first = otherSide[child.b].first(where: { !table.isBlank($0) })
      else { return false }
      return base[hunk.a].contains {
        !table.isBlank($0) && table.indentation($0) < table.indentation(first)
      }
    }
    return hunks.contains { hunk in
      hunk.b.isEmpty && isOrphaned(hunk)
        || hunk.a.count > mostLinesMadeOver && !hunk.b.isEmpty
          && (places.contains(hunk.a.lowerBound) || places.contains(hunk.a.upperBound))
          && !SimilarLines.arePresent(in: Array(base[hunk.a]), and: Array(side[hunk.b]), table)
    }
  }

  static func isSmall(_ lines: [Int32], _ table: LineTable) -> Bool {
    lines.count <= mostLines && table.size(of: lines) <= mostBytes
  }

  private func joined(_ table: inout LineTable) -> Outcome? {
    guard rules.contains(.joinedInsertions) else { return nil }
    return JoinedInsertions.join(older, newer, in: context, table: &table)
      .map { Outcome(pieces: $0, rules: .joinedInsertions) }
  }

  /// The result of merging each stretch of the base with overlapping edits separately; nil if there
  /// is only one, or if the result would repeat something.
  private func mergedByParts(
    _ olderHunks: [Hunk], _ newerHunks: [Hunk], _ table: inout LineTable
  ) -> Outcome? {
    let spans = Hunk.overlaps(of: olderHunks + newerHunks) { table.isOfLineAbove(base[$0]) }
    if spans.count < 2 { return nil }
    var outcome = Outcome(pieces: [], rules: .touchingLines)
    var end = 0
    for span in spans {
      outcome.pieces.append(.settled(Array(base[end..<span.lowerBound])))
      end = span.upperBound
      let part = Self.threeWay(
        base: Array(base[span]), older: Hunk.edited(span, of: base, by: olderHunks, from: older),
        newer: Hunk.edited(span, of: base, by: newerHunks, from: newer),
        context: context.replacing(span), rules: rules, table: &table)
      outcome.pieces += part.pieces
      outcome.rules.formUnion(part.rules)
    }
    outcome.pieces.append(.settled(Array(base[end...])))
    return guards.allow(outcome.settled, in: context, table) ? outcome : nil
  }

  /// The result of merging edits of words; if one side changed only white space, the other side.
  private func mergedByWords(_ table: inout LineTable) -> [Int32]? {
    if let lines = WordMerge.merge(base: base, older: older, newer: newer, table: &table),
      guards.allow(lines, in: context, table)
    {
      return lines
    }
    for (side, other) in [(older, newer), (newer, older)]
    where table.areWrapped(side, base) && guards.allow(other, in: context, table) {
      return other
    }
    return nil
  }

  private var guards: RepetitionGuards {
    RepetitionGuards(base: base, older: older, newer: newer)
  }
}
