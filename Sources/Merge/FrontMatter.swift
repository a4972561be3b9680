/// Front matter that lines begin with: notes-merge(7), "Joined insertions".
struct FrontMatter {
  /// The lines between the two of three hyphens.
  private let inner: ArraySlice<Int32>
  /// The lines behind them.
  private let rest: ArraySlice<Int32>
  private let fence: Int32
  private let context: InsertionContext

  /// The front matter of lines at the start of a note; nil if they have none.
  init?(_ lines: [Int32], _ context: InsertionContext, _ table: LineTable) {
    func isFence(_ line: Int32) -> Bool { table[line].elementsEqual("---".utf8) }
    guard context.isAtStart, let first = lines.first, isFence(first),
      let end = lines.dropFirst().firstIndex(where: isFence)
    else { return nil }
    (inner, rest, fence) = (lines[1..<end], lines[(end + 1)...], first)
    self.context = context
  }

  /// One front matter with the keys of both, and what is behind each; a block of what can't be joined.
  func join(_ newer: FrontMatter, _ table: inout LineTable) -> [FineRegion.Piece] {
    var (older, added) = (Array(inner), Array(newer.inner))
    let keys = [older, added].map { lines in
      Set(lines.compactMap { InsertionContext.frontMatterKey(table[$0]) })
    }
    var isClash = !keys[0].isDisjoint(with: keys[1])
    // The lines below a key are its own: then a key that both have is a clash, whatever it says.
    if keys[0].count == older.count, keys[1].count == added.count {
      added.removeAll { older.contains($0) }
      isClash = added.contains { line in
        InsertionContext.frontMatterKey(table[line]).map(keys[0].contains) ?? false
      }
    }
    let pieces: [FineRegion.Piece] =
      isClash
      ? [.settled([fence]), .open(older: older, newer: Array(newer.inner)), .settled([fence])]
      : [.settled([fence] + older + added + [fence])]
    older = Array(rest)
    added = Array(newer.rest)
    if older == added { return pieces + [.settled(older)] }
    let joined = JoinedInsertions.join(
      older, added, in: context.behind([fence, fence]), table: &table)
    return pieces + (joined ?? [.open(older: older, newer: added)])
  }
}
