/// The signs that a merge of both sides would repeat something: notes-merge(7), "Guards".
struct RepetitionGuards {
  let base: [Int32]
  let older: [Int32]
  let newer: [Int32]

  /// Whether a merge's result, or the part of it without conflicts, repeats nothing and so is acceptable.
  func allow(_ merged: [Int32], in context: InsertionContext, _ table: LineTable) -> Bool {
    func counts(_ lines: [Int32]) -> [Int32: Int] {
      lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let (inOlder, inNewer, inMerged) = (counts(older), counts(newer), counts(merged))
    for (line, count) in inMerged where table.hasWords(line) || table.isFence(line) {
      let most = max(inOlder[line, default: 0], inNewer[line, default: 0])
      if most > 0, count > most { return false }
    }
    func fences(_ lines: [Int32]) -> [Int32] { lines.filter(table.isFence).sorted() }
    if Set([base, older, newer].map(fences)).count == 3 { return false }
    let inBase = Set(base)
    func added(_ side: [Int32], beside other: [Int32: Int]) -> [Int32] {
      side.filter { !inBase.contains($0) && inMerged[$0] != nil && other[$0] == nil }
    }
    let (olderAdded, newerAdded) = (added(older, beside: inNewer), added(newer, beside: inOlder))
    return context.names(olderAdded, table).isDisjoint(with: context.names(newerAdded, table))
      && !SimilarLines.arePresent(in: olderAdded, and: newerAdded, table)
  }
}
