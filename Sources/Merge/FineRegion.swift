/// A region with two sides and one base, merged by parts smaller than it: notes-merge(7), "Below the
/// line".
struct FineRegion {
  private let base: [Int32]
  /// What stands around the base.
  private let context: SortedContext
  private let older: [Int32]
  private let newer: [Int32]

  /// More lines than this are not looked into.
  static let mostLines = 2000
  /// Nor more bytes.
  static let mostBytes = 1 << 20

  /// The lines that a rule makes of the sides, and the rule; nil when markers are needed.
  static func merge(
    sides: [[Int32]], base: [Int32], context: SortedContext, rules: MergeRules,
    table: inout LineTable
  ) -> (lines: [Int32], rule: MergeRules)? {
    if base.isEmpty {
      guard rules.contains(.joinedInsertions) else { return nil }
      return JoinedInsertions.join(sides, in: context, table: table).map { ($0, .joinedInsertions) }
    }
    guard sides.count == 2 else { return nil }
    let region = FineRegion(base: base, context: context, older: sides[0], newer: sides[1])
    guard ([base] + sides).allSatisfy({ isSmall($0, table) }) else { return nil }
    let attempts: [(MergeRules, (inout LineTable) -> [Int32]?)] = [
      (.touchingLines, region.mergedByLines),
      // At least one unchanged token between the edits of both sides.
      (.sentences, { region.merged(&$0, gap: 1, tokens: Token.sentences) { _, _, _, _ in nil } }),
      (.words, region.mergedByWords),
      (.words, { region.isWrapped(region.older, $0) ? region.newer : nil }),
      (.words, { region.isWrapped(region.newer, $0) ? region.older : nil }),
    ]
    for (rule, merged) in attempts where rules.contains(rule) {
      if let lines = merged(&table), region.passesGuards(lines, table) { return (lines, rule) }
    }
    return nil
  }

  private static func isSmall(_ lines: [Int32], _ table: LineTable) -> Bool {
    lines.count <= mostLines && lines.reduce(0) { $0 + table[$1].count + 1 } <= mostBytes
  }

  /// The merge by lines, edits that touch allowed.
  private func mergedByLines(_ table: inout LineTable) -> [Int32]? {
    EditCombination.combine(
      base: base, older: older, newer: newer, olderHunks: LineMatching.hunks(from: base, to: older),
      newerHunks: LineMatching.hunks(from: base, to: newer), gap: 0
    ) { [table] older, newer in
      guard older.range.isEmpty else { return nil }
      return JoinedInsertions.join(
        [older.text, newer.text], in: context.at(older.range.lowerBound), table: table)
    }
  }

  /// The merge by words, at least two unchanged tokens between the edits of both sides.
  private func mergedByWords(_ table: inout LineTable) -> [Int32]? {
    if table.hasOpenFence(in: [older, newer]) { return nil }
    return merged(&table, gap: 2, tokens: Token.words, joining: Enumeration.join)
  }

  /// Whether a side only wrapped the base's lines anew.
  private func isWrapped(_ side: [Int32], _ table: LineTable) -> Bool {
    if older.isEmpty || newer.isEmpty || table.hasOpenFence(in: [older, newer]) { return false }
    func words(_ lines: [Int32]) -> [ArraySlice<UInt8>] {
      lines.flatMap { table[$0].split(whereSeparator: Token.isSpace) }
    }
    return words(side) == words(base)
      && (base + side).allSatisfy {
        !table.isBlank($0) && !Token.isSpace(table[$0].first ?? UInt8(ascii: " "))
      }
  }

  private func merged(
    _ table: inout LineTable, gap: Int, tokens cut: ([UInt8]) -> [ArraySlice<UInt8>],
    joining join: (EditCombination.Edit, EditCombination.Edit, [Int32], LineTable) -> [Int32]?
  ) -> [Int32]? {
    var tokens = LineTable()
    func numbers(_ lines: [Int32]) -> [Int32] {
      cut(table.text(of: lines)).map { tokens.number(of: $0) }
    }
    let (base, older, newer) = (numbers(base), numbers(older), numbers(newer))
    guard let olderHunks = TokenMatching.hunks(from: base, to: older),
      let newerHunks = TokenMatching.hunks(from: base, to: newer),
      let merged = EditCombination.combine(
        base: base, older: older, newer: newer, olderHunks: olderHunks, newerHunks: newerHunks,
        gap: gap,
        meeting: { [tokens] older, newer in
          let isReplacement = !older.text.isEmpty && !newer.text.isEmpty
          return (isReplacement ? JoinedInsertions.larger(older.text, newer.text) : nil)
            ?? join(older, newer, base, tokens)
        })
    else { return nil }
    return table.lines(of: merged.flatMap { tokens[$0] })
  }

  /// Refuses a result that says a line more often than either side, keeps a line that a side has no
  /// more, or two similar lines that the sides added.
  private func passesGuards(_ merged: [Int32], _ table: LineTable) -> Bool {
    func counts(_ lines: [Int32]) -> [Int32: Int] {
      lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let (inBase, inOlder, inNewer, inMerged) =
      (counts(base), counts(older), counts(newer), counts(merged))
    for (line, count) in inMerged where table.hasLetters(line) {
      let here = [inOlder[line, default: 0], inNewer[line, default: 0]]
      if here != [0, 0], here.allSatisfy({ $0 < count }) { return false }
      // One side took it away or changed it, and the other added none.
      if let former = inBase[line], here.contains(0), here.allSatisfy({ $0 <= former }) {
        return false
      }
    }
    func added(_ side: [Int32], beside other: [Int32: Int]) -> [Int32] {
      side.filter { inBase[$0] == nil && inMerged[$0] != nil && other[$0] == nil }
    }
    let olderAdded = added(older, beside: inNewer)
    let newerAdded = added(newer, beside: inOlder)
    if !SimilarLines.arePresent(in: olderAdded, and: newerAdded, table) { return true }
    // Where no line is made of both sides', a line like one of the base that its side has no more is
    // that one, edited.
    if merged.contains(where: { inOlder[$0] == nil && inNewer[$0] == nil }) { return false }
    let olderGone = base.filter { inOlder[$0] == nil && inNewer[$0] != nil }
    let newerGone = base.filter { inNewer[$0] == nil && inOlder[$0] != nil }
    guard let olderEdited = SimilarLines.lines(olderAdded, similarTo: olderGone, table),
      let newerEdited = SimilarLines.lines(newerAdded, similarTo: newerGone, table)
    else { return false }
    return !SimilarLines.arePresent(
      in: olderAdded.filter { !olderEdited.contains($0) },
      and: newerAdded.filter { !newerEdited.contains($0) }, table)
  }
}
