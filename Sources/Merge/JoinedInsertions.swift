/// Sides that only inserted lines at one place: notes-merge(7), "Joined insertions".
enum JoinedInsertions {
  /// Both insertions, the older first; nil if they seem to be versions of the same thing.
  static func join(
    _ older: [Int32], _ newer: [Int32], in context: InsertionContext, table: inout LineTable
  ) -> [FineRegion.Piece]? {
    if let larger = larger(older, newer) { return [.settled(larger)] }
    var (start, end) = commonLines(older, newer, table)
    func rest(_ lines: [Int32]) -> [Int32] { Array(lines.dropFirst(start).dropLast(end)) }
    // Lines that already repeat in the note are not shared content; items of a list and common first lines are.
    let around = start == 0 ? context.around : []
    if start + end > 0, !areItems(rest(older), rest(newer), table) { (start, end) = (0, 0) }
    let usual = table.isList(older + newer) ? [] : Set(around)
    if older.suffix(end).contains(where: { usual.contains($0) && !table.isBlank($0) }) { end = 0 }
    let (olderRest, newerRest) = (rest(older), rest(newer))
    if differInIndentation(olderRest, newerRest, table)
      || table.hasOpenFence(in: [olderRest, newerRest])
      || saySomethingTwice(
        olderRest.filter { !usual.contains($0) }, newerRest.filter { !usual.contains($0) }, around,
        context, behind: older.prefix(start), &table)
    {
      return nil
    }
    let isWhole = start == 0 && end == 0
    let middle = isWhole ? context.ordered(olderRest, newerRest, table: table) : nil
    var orders = [(olderRest, newerRest), (newerRest, olderRest)]
    if context.isAtStart {
      if FrontMatter(older, table) != nil {
        orders.removeLast()
      } else if FrontMatter(newer, table) != nil {
        orders.removeFirst()
      }
    }
    guard
      let both = middle
        ?? orders.first(where: { table.mayFollow($0.0, $0.1) }).map({
          behindEachOther($0.0, $0.1, isBelowHeading: start > 0, table)
        })
    else { return nil }
    return [.settled(older.prefix(start) + both + older.suffix(end))]
  }

  /// Both insertions, one after the other, with as many blank lines between them as the side with more has
  /// there. Between items of a list under one heading there are no blank lines.
  private static func behindEachOther(
    _ older: [Int32], _ newer: [Int32], isBelowHeading: Bool, _ table: LineTable
  ) -> [Int32] {
    let top = newer.prefix(while: table.isBlank)
    let bottom = older.suffix(older.reversed().prefix(while: table.isBlank).count)
    let (first, second) = (older.dropLast(bottom.count), newer.dropFirst(top.count))
    let between = bottom.count > top.count ? bottom : top
    let mark = second.first.flatMap { Token.itemMark(table[$0]) }
    let isList =
      isBelowHeading && mark != nil
      && first.drop(while: table.isBlank).allSatisfy { Token.itemMark(table[$0]) == mark }
    return Array(first + (isList ? [] : between) + second)
  }

  /// How many first lines both share, and how many last lines of the rest; the rests must not begin
  /// with blank lines or code fences.
  private static func commonLines(
    _ older: [Int32], _ newer: [Int32], _ table: LineTable
  ) -> (start: Int, end: Int) {
    func isBare(_ line: Int32) -> Bool { table.isBlank(line) || table.isFence(line) }
    let shorter = min(older.count, newer.count)
    var start = 0
    while start < shorter, older[start] == newer[start] { start += 1 }
    while start > 0, isBare(older[start - 1]) { start -= 1 }
    var end = 0
    while end < shorter - start, older[older.count - 1 - end] == newer[newer.count - 1 - end] {
      end += 1
    }
    while end > 0, isBare(older[older.count - end]) { end -= 1 }
    return (start, end)
  }

  /// Whether the rests beside common lines begin like items of one list, or one of them is blank.
  private static func areItems(_ older: [Int32], _ newer: [Int32], _ table: LineTable) -> Bool {
    guard let (older, newer) = firstLines(older, newer, table) else { return true }
    func mark(_ line: Int32) -> ArraySlice<UInt8> {
      Token.itemMark(table[line]) ?? Token.mark(table[line])
    }
    return mark(older) == mark(newer)
      && !Token.mark(table[older]).allSatisfy { Token.isSpace($0) || $0 == UInt8(ascii: "\r") }
  }

  /// Whether one insertion is indented more than the other. Then it may be a child of a list item, and may
  /// belong to another parent than the line before it.
  private static func differInIndentation(
    _ older: [Int32], _ newer: [Int32], _ table: LineTable
  ) -> Bool {
    guard let (older, newer) = firstLines(older, newer, table) else { return false }
    return table.indentation(older) != table.indentation(newer)
  }

  /// The first lines that are not blank; nil if one side has none.
  private static func firstLines(
    _ older: [Int32], _ newer: [Int32], _ table: LineTable
  ) -> (Int32, Int32)? {
    guard let older = older.first(where: { !table.isBlank($0) }),
      let newer = newer.first(where: { !table.isBlank($0) })
    else { return nil }
    return (older, newer)
  }

  private static func saySomethingTwice(
    _ older: [Int32], _ newer: [Int32], _ around: [Int32], _ context: InsertionContext,
    behind common: ArraySlice<Int32>, _ table: inout LineTable
  ) -> Bool {
    let names = [older, newer].map { context.names($0, behind: common, table) }
    if table.sharesLine(older, newer) || !names[0].isDisjoint(with: names[1]) { return true }
    let plainAround = around.filter { table.blocks[$0] == nil }
    let texts = [older, newer, plainAround].map { $0 + table.paragraphs($0) }
    return SimilarLines.arePresent(in: texts[0], and: texts[1], around: texts[2], table)
  }

  /// The longer of two sequences, if it contains the other; otherwise nil.
  static func larger(_ older: [Int32], _ newer: [Int32]) -> [Int32]? {
    older.contains(newer) ? older : newer.contains(older) ? newer : nil
  }
}
