internal import System

/// The order of versions and the dates they count with: notes-versions(7), "Order".
///
/// Order comes from ancestry, and only where that leaves a choice from what clocks said. So a clock that
/// was wrong misplaces no version but those that it dated.
struct VersionOrder {
  /// The versions of the tip, newest first; derived merges too.
  let versions: [Int]
  /// Of each version of the table its place among them; `.max` for one that the tip has not.
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
    // Few wait at a time: as many as there are lines of history side by side. The newest is the last.
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

  /// When each version of the table counts as made, in seconds since 1970; `.max` for one that the tip has
  /// not. Dates never go back from older versions to newer ones.
  ///
  /// A date after `now`, and the fewest others without which none goes back, are a wrong clock's, and
  /// derived merges have none of their own: these count with the version that comes before them in time.
  func dates(in table: HistoryTable, now: Int64) -> [Int64] {
    let dated = versions.indices.reversed().filter {
      !table.isDerived(versions[$0]) && table.orderingTime(of: versions[$0]) <= now
    }
    let kept = Self.longestAscent(dated.map { table.orderingTime(of: versions[$0]) }).map {
      dated[$0]
    }
    var dates = [Int64](repeating: .max, count: ranks.count)
    // A version older than all dates that count is no younger than they are.
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

  /// The positions of a longest subsequence that never descends, as patience sorting finds it.
  private static func longestAscent(_ times: [Int64]) -> [Int] {
    // Of each length the subsequence that ends lowest: its last position.
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
  /// The order of the table's versions from a tip on. It is made once for both.
  func order(of table: HistoryTable, from tip: Int) -> VersionOrder {
    if let known = loadedOrder, known.tip == table.id(of: tip), known.count == table.versions.count
    {
      return known.order
    }
    let order = VersionOrder(of: table, from: tip)
    loadedOrder = (table.id(of: tip), table.versions.count, order)
    return order
  }

  /// When each version counts as made: `VersionOrder.dates(in:now:)`, as the clock stands.
  func dates(in table: HistoryTable, from tip: Int) -> [Int64] {
    order(of: table, from: tip).dates(in: table, now: clock.now().seconds)
  }
}
