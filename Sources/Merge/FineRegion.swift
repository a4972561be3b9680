/// A region with two sides and one base, merged by parts smaller than it.
struct FineRegion {
  let base: [Int32]
  /// What stands around the base.
  let context: SortedContext
  let older: [Int32]
  let newer: [Int32]

  /// More lines than this are not looked into.
  static let mostLines = 2000
  /// Nor more bytes.
  static let mostBytes = 1 << 20

  func isSmall(_ table: LineTable) -> Bool {
    [base, older, newer].allSatisfy { lines in
      lines.count <= Self.mostLines
        && lines.reduce(0) { $0 + table[$1].count + 1 } <= Self.mostBytes
    }
  }

  /// The merge by lines, edits that touch allowed.
  func mergedByLines(_ table: inout LineTable) -> [Int32]? {
    let merged = EditCombination.combine(
      base: base, older: older, newer: newer,
      olderHunks: LineMatching.hunks(from: base, to: older, symbolCount: table.count),
      newerHunks: LineMatching.hunks(from: base, to: newer, symbolCount: table.count), gap: 0
    ) { [table] older, newer in
      guard older.range.isEmpty else { return nil }
      let start = context.place.lowerBound + older.range.lowerBound
      return JoinedInsertions.join(
        [older.text, newer.text], in: context.at(start..<start), table: table)
    }
    guard let merged, passesGuards(merged, table) else { return nil }
    return merged
  }

  /// The merge by sentences, at least one unchanged token between the edits of both sides.
  func mergedBySentences(_ table: inout LineTable) -> [Int32]? {
    guard let merged = merged(&table, gap: 1, tokens: Token.sentences), passesGuards(merged, table)
    else { return nil }
    return merged
  }

  /// The merge by words, at least three unchanged tokens between the edits of both sides.
  func mergedByWords(_ table: inout LineTable) -> [Int32]? {
    if LineGuards.holdOpenFence([older, newer], table) { return nil }
    guard
      let merged = merged(&table, gap: 2, tokens: Token.words, joinsEnumerations: true),
      passesGuards(merged, table)
    else { return nil }
    return merged
  }

  /// The side that changed words, where the other only wrapped the lines anew.
  func mergedByWrapping(_ table: LineTable) -> [Int32]? {
    if older.isEmpty || newer.isEmpty || LineGuards.holdOpenFence([older, newer], table) {
      return nil
    }
    func isPlain(_ lines: [Int32]) -> Bool {
      lines.allSatisfy {
        !LineGuards.isBlank($0, table) && !Token.isSpace(table[$0].first ?? UInt8(ascii: " "))
      }
    }
    for (side, other) in [(older, newer), (newer, older)] {
      if words(side, table) == words(base, table), isPlain(base + side), passesGuards(other, table)
      {
        return other
      }
    }
    return nil
  }

  private func words(_ lines: [Int32], _ table: LineTable) -> [ArraySlice<UInt8>] {
    lines.flatMap { table[$0].split(whereSeparator: Token.isSpace) }
  }

  private func merged(
    _ table: inout LineTable, gap: Int, tokens cut: ([UInt8]) -> [ArraySlice<UInt8>],
    joinsEnumerations: Bool = false
  ) -> [Int32]? {
    var words = LineTable()
    func numbers(_ lines: [Int32]) -> [Int32] {
      cut(table.text(of: lines)).map { words.number(of: $0) }
    }
    let (base, older, newer) = (numbers(base), numbers(older), numbers(newer))
    guard let olderHunks = TokenMatching.hunks(from: base, to: older),
      let newerHunks = TokenMatching.hunks(from: base, to: newer),
      let merged = EditCombination.combine(
        base: base, older: older, newer: newer, olderHunks: olderHunks, newerHunks: newerHunks,
        gap: gap,
        meeting: { [words] in
          Self.larger($0.text, $1.text)
            ?? (joinsEnumerations ? Enumeration.join($0, $1, base: base, tokens: words) : nil)
        })
    else { return nil }
    return table.lines(of: merged.flatMap { words[$0] })
  }

  /// The one of two texts in which the other stands as a whole.
  private static func larger(_ older: [Int32], _ newer: [Int32]) -> [Int32]? {
    if older.isEmpty || newer.isEmpty { return nil }
    if JoinedInsertions.contains(older, newer) { return older }
    return JoinedInsertions.contains(newer, older) ? newer : nil
  }

  /// Refuses a result that says a line more often than either side, keeps a line that a side has no
  /// more, or two similar lines that the sides added.
  private func passesGuards(_ merged: [Int32], _ table: LineTable) -> Bool {
    func counts(_ lines: [Int32]) -> [Int32: Int] {
      lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let (inBase, inOlder, inNewer, inMerged) =
      (counts(base), counts(older), counts(newer), counts(merged))
    for (line, count) in inMerged where LineGuards.hasLetters(line, table) {
      if count > max(inOlder[line, default: 0], inNewer[line, default: 0]),
        inOlder[line] != nil || inNewer[line] != nil
      {
        return false
      }
      // One side took it away or changed it, and the other added none.
      let here = [inOlder[line, default: 0], inNewer[line, default: 0]]
      if here.contains(0), here.allSatisfy({ $0 <= inBase[line, default: 0] }), inBase[line] != nil
      {
        return false
      }
    }
    func added(_ side: [Int32]) -> [Int32] {
      side.filter { inBase[$0] == nil && inMerged[$0] != nil }
    }
    let olderAdded = added(older).filter { inNewer[$0] == nil }
    let newerAdded = added(newer).filter { inOlder[$0] == nil }
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

/// Differences between token sequences: notes-merge(7), "Matching tokens".
enum TokenMatching {
  static func hunks(from a: [Int32], to b: [Int32]) -> [Hunk]? {
    var matching = Matching(countA: a.count, countB: b.count)
    guard
      MyersMatcher.match(
        a, b, positionsA: Array(a.indices), positionsB: Array(b.indices), into: &matching)
    else { return nil }
    Compaction.compact(a, &matching.changedA, against: matching.changedB)
    Compaction.compact(b, &matching.changedB, against: matching.changedA)
    return matching.hunks
  }
}
