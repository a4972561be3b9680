/// The rules that settle a region which lines leave in conflict: notes-merge(7), "Below the line".
enum FineGrainedMerge {
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
    let region = FineRegion(
      base: base, context: context, older: sides[0], newer: sides[1])
    guard region.isSmall(table) else { return nil }
    if rules.contains(.touchingLines), let lines = region.mergedByLines(&table) {
      return (lines, .touchingLines)
    }
    if rules.contains(.sentences), let lines = region.mergedBySentences(&table) {
      return (lines, .sentences)
    }
    if rules.contains(.words),
      let lines = region.mergedByWords(&table) ?? region.mergedByWrapping(table)
    {
      return (lines, .words)
    }
    return nil
  }
}
