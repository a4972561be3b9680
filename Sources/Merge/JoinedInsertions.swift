/// Sides that only inserted lines at one place: notes-merge(7), "Joined insertions".
enum JoinedInsertions {
  /// All insertions, the first side's first, or nil when they look like versions of one thing.
  static func join(_ sides: [[Int32]], in context: SortedContext, table: LineTable) -> [Int32]? {
    var joined = sides[0]
    for side in sides.dropFirst() {
      guard let next = join(joined, side, in: context, table: table) else { return nil }
      joined = next
    }
    return joined
  }

  private static func join(
    _ older: [Int32], _ newer: [Int32], in context: SortedContext, table: LineTable
  ) -> [Int32]? {
    if let larger = larger(older, newer) { return larger }
    let shorter = min(older.count, newer.count)
    var start = 0
    while start < shorter, older[start] == newer[start] { start += 1 }
    while start > 0, table.isBlank(older[start - 1]) { start -= 1 }
    var end = 0
    while end < shorter - start, older[older.count - 1 - end] == newer[newer.count - 1 - end] {
      end += 1
    }
    while end > 0, table.isBlank(older[older.count - end]) { end -= 1 }
    // Lines of a pattern that the note has already say nothing; items of a list do.
    let around = start == 0 ? context.around : []
    let usual = table.isList(older + newer) ? [] : Set(around)
    if older.suffix(end).contains(where: { usual.contains($0) && !table.isBlank($0) }) { end = 0 }
    let olderRest = Array(older.dropFirst(start).dropLast(end))
    let newerRest = Array(newer.dropFirst(start).dropLast(end))
    let olderOwn = olderRest.filter { !usual.contains($0) }
    let newerOwn = newerRest.filter { !usual.contains($0) }
    if table.hasOpenFence(in: [olderRest, newerRest]) || table.sharesLine(olderOwn, newerOwn)
      || SimilarLines.arePresent(in: olderOwn, and: newerOwn, around: around, table)
    {
      return nil
    }
    let isWhole = start == 0 && end == 0
    let rest =
      (isWhole ? context.ordered(olderRest, newerRest, table: table) : nil)
      ?? (continues(newerRest, before: olderRest, table: table)
        ? newerRest + olderRest : olderRest + newerRest)
    return older.prefix(start) + rest + older.suffix(end)
  }

  /// Whether some lines are items of a list that other lines begin with and leave.
  private static func continues(_ items: [Int32], before other: [Int32], table: LineTable) -> Bool {
    guard let first = other.first, !items.isEmpty else { return false }
    func isItems(_ lines: [Int32]) -> Bool {
      table.isList(lines) && !lines.contains(where: table.isBlank)
    }
    return isItems(items + [first]) && !isItems(other)
  }

  /// The one of two sequences in which the other stands as it is.
  static func larger(_ older: [Int32], _ newer: [Int32]) -> [Int32]? {
    older.contains(newer) ? older : newer.contains(older) ? newer : nil
  }
}
