internal import System

/// The order of versions, and the dates that count for them: notes-versions(7), "Order".
///
/// Ancestry decides the order; dates order only unrelated versions. So a wrong clock misplaces only the
/// versions that it dated.
struct VersionOrder {
  /// The versions of the tip, newest first, including derived merges.
  let versions: [Int]
  /// For each version of the table, its position in `versions`; `.max` if it is not in the tip's
  /// history.
  private let ranks: [Int]

  init(of table: HistoryTable, from tip: Int) {
    var unseenChildren = [Int32](repeating: 0, count: tip + 1)
    var isReached = [Bool](repeating: false, count: tip + 1)
    isReached[tip] = true
    for version in stride(from: tip, through: 0, by: -1) where isReached[version] {
      for place in table.parents(of: version) {
        let parent = table.parents.number(place)
        isReached[parent] = true
        unseenChildren[parent] += 1
      }
    }
    func isOlder(_ left: Int, than right: Int) -> Bool {
      let (first, second) = (table.orderingTime(of: left), table.orderingTime(of: right))
      return first == second ? table.id(of: left) < table.id(of: right) : first < second
    }
    // Few versions wait at a time: as many as there are parallel branches. The newest is the last.
    var waiting = [tip]
    var order: [Int] = []
    var ranks = [Int](repeating: .max, count: table.versions.count)
    while let version = waiting.popLast() {
      ranks[version] = order.count
      order.append(version)
      for place in table.parents(of: version) {
        let parent = table.parents.number(place)
        unseenChildren[parent] -= 1
        guard unseenChildren[parent] == 0 else { continue }
        waiting.insert(parent, at: waiting.partitionPoint { isOlder($0, than: parent) })
      }
    }
    (versions, self.ranks) = (order, ranks)
  }

  func isNewer(_ left: Int, than right: Int) -> Bool { ranks[left] < ranks[right] }

  /// The date that counts for each version of the table, in seconds since 1970; `.max` for a version that
  /// is not in the tip's history. Dates never decrease from older versions to newer ones.
  ///
  /// A date after `now` comes from a wrong clock, and so do the fewest other dates whose removal leaves an
  /// ascending order. Derived merges have no date of their own. These versions all count with the date of
  /// the version before them.
  func dates(in table: HistoryTable, now: Int64) -> [Int64] {
    let dated = versions.indices.reversed().filter {
      !table.isDerived(versions[$0]) && table.orderingTime(of: versions[$0]) <= now
    }
    let kept = Self.longestAscent(dated.map { table.orderingTime(of: versions[$0]) }).map {
      dated[$0]
    }
    var dates = [Int64](repeating: .max, count: ranks.count)
    // A version before all valid dates gets the first valid date.
    var last = kept.first.map { table.orderingTime(of: versions[$0]) } ?? now
    var next = kept[...]
    for place in versions.indices.reversed() {
      if next.first == place {
        last = table.orderingTime(of: versions[place])
        next.removeFirst()
      }
      dates[versions[place]] = last
    }
    return dates
  }

  /// The positions of a longest subsequence that never decreases, found by patience sorting.
  private static func longestAscent(_ times: [Int64]) -> [Int] {
    // For each length, the last position of the subsequence with the lowest end.
    var ends: [Int] = []
    var former = [Int](repeating: -1, count: times.count)
    for (position, time) in times.enumerated() {
      let length = ends.partitionPoint { times[$0] <= time }
      if length > 0 { former[position] = ends[length - 1] }
      if length == ends.count { ends.append(position) } else { ends[length] = position }
    }
    var ascent: [Int] = []
    var position = ends.last ?? -1
    while position >= 0 {
      ascent.append(position)
      position = former[position]
    }
    return ascent.reversed()
  }
}

extension History {
  /// The order of the table's versions from a tip on. It is computed again only if the tip or the table changes.
  func order(of table: HistoryTable, from tip: Int) -> VersionOrder {
    if let known = loadedOrder, known.tip == table.id(of: tip), known.count == table.versions.count
    {
      return known.order
    }
    let order = VersionOrder(of: table, from: tip)
    loadedOrder = (table.id(of: tip), table.versions.count, order)
    return order
  }

  /// The date that counts for each version: `VersionOrder.dates(in:now:)` with the present time.
  func dates(in table: HistoryTable, from tip: Int) -> [Int64] {
    order(of: table, from: tip).dates(in: table, now: clock.now().seconds)
  }
}
