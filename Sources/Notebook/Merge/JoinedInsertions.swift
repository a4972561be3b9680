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
    let olderRest = Array(older.dropFirst(start).dropLast(end))
    let newerRest = Array(newer.dropFirst(start).dropLast(end))
    if LineGuards.holdOpenFence([olderRest, newerRest], table)
      || LineGuards.shareLine(olderRest, newerRest, table)
      || LineGuards.holdSimilarLines(olderRest, newerRest, table)
    {
      return nil
    }
    let isWhole = start == 0 && end == 0
    let rest =
      (isWhole ? context.ordered(olderRest, newerRest, table: table) : nil)
      ?? olderRest + newerRest
    return Array(older.prefix(start)) + rest + Array(older.suffix(end))
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
