/// Sides that only inserted lines at one place: notes-merge(7), "Joined insertions".
enum JoinedInsertions {
  /// All insertions, the first side's first, or nil when they look like versions of one thing.
  static func join(
    _ sides: [[Int32]], in context: SortedContext, table: LineTable
  ) -> [Int32]? {
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
    if contains(older, newer) { return older }
    if contains(newer, older) { return newer }
    let shorter = min(older.count, newer.count)
    var start = 0
    while start < shorter, older[start] == newer[start] { start += 1 }
    while start > 0, LineGuards.isBlank(older[start - 1], table) { start -= 1 }
    var end = 0
    while end < shorter - start,
      older[older.count - 1 - end] == newer[newer.count - 1 - end]
    { end += 1 }
    while end > 0, LineGuards.isBlank(older[older.count - end], table) { end -= 1 }
    // Lines of a pattern that the note has already say nothing; items of a list do.
    let around = start == 0 ? context.around : []
    let usual = LineGuards.isList(older + newer, table) ? [] : Set(around)
    if older.suffix(end).contains(where: { usual.contains($0) && !LineGuards.isBlank($0, table) }) {
      end = 0
    }
    let olderRest = Array(older.dropFirst(start).dropLast(end))
    let newerRest = Array(newer.dropFirst(start).dropLast(end))
    let olderOwn = olderRest.filter { !usual.contains($0) }
    let newerOwn = newerRest.filter { !usual.contains($0) }
    if LineGuards.holdOpenFence([olderRest, newerRest], table)
      || LineGuards.shareLine(olderOwn, newerOwn, table)
      || SimilarLines.arePresent(in: olderOwn, and: newerOwn, around: around, table)
    {
      return nil
    }
    let isWhole = start == 0 && end == 0
    let rest =
      (isWhole ? context.ordered(olderRest, newerRest, table: table) : nil)
      ?? (continues(newerRest, before: olderRest, table: table)
        ? newerRest + olderRest : olderRest + newerRest)
    return Array(older.prefix(start)) + rest + Array(older.suffix(end))
  }

  /// Whether some lines are items of a list that other lines begin with and leave.
  private static func continues(_ items: [Int32], before other: [Int32], table: LineTable) -> Bool {
    guard let first = other.first, !items.isEmpty else { return false }
    func isItems(_ lines: [Int32]) -> Bool {
      LineGuards.isList(lines, table) && !lines.contains { LineGuards.isBlank($0, table) }
    }
    return isItems(items + [first]) && !isItems(other)
  }

  /// Whether `inner` stands in `outer` as it is.
  static func contains(_ outer: [Int32], _ inner: [Int32]) -> Bool {
    guard !inner.isEmpty, inner.count <= outer.count else { return inner.isEmpty }
    // Knuth, Morris and Pratt: lines that are all equal must not cost the product of the sizes.
    var borders = [0]
    var matched = 0
    for line in inner.dropFirst() {
      while matched > 0, inner[matched] != line { matched = borders[matched - 1] }
      if inner[matched] == line { matched += 1 }
      borders.append(matched)
    }
    matched = 0
    for line in outer {
      while matched > 0, inner[matched] != line { matched = borders[matched - 1] }
      if inner[matched] == line { matched += 1 }
      if matched == inner.count { return true }
    }
    return false
  }
}
