public import Git

extension HistoryTable {
  /// For each of some versions the nearest of them that it was made on: its parents in a history that
  /// has these versions alone.
  func parents(among chosen: Set<Int>, from tip: Int) -> [Int: [Int]] {
    var found: [Int: [Int]] = [:]
    // The chosen versions that are met first on the way back from each version.
    var nearest: [[Int]] = []
    nearest.reserveCapacity(tip + 1)
    for version in 0...tip {
      var met: [Int] = []
      for position in parentRange(of: version) {
        let further = nearest[Int(parents[position])]
        if met.isEmpty { met = further } else { met += further.filter { !met.contains($0) } }
      }
      if met.count > 1 { met = met.filter { !isAncestor($0, ofOneOf: met, in: found) } }
      if chosen.contains(version) {
        found[version] = met
        met = [version]
      }
      nearest.append(met)
    }
    return found
  }

  private func isAncestor(_ version: Int, ofOneOf others: [Int], in found: [Int: [Int]]) -> Bool {
    var waiting = others.filter { $0 > version }
    var seen = Set(waiting)
    while let next = waiting.popLast() {
      for parent in found[next] ?? [] {
        if parent == version { return true }
        if parent > version, seen.insert(parent).inserted { waiting.append(parent) }
      }
    }
    return false
  }
}

extension History {
  /// For each version that changed a note, derived merges too, the nearest ones it was made on.
  public func parents(inHistoryOf path: TreePath) throws -> [ObjectID: [ObjectID]] {
    guard let (table, tip) = try historyTable() else { return [:] }
    let chosen = Set(table.trail(of: path, from: tip).map(\.version))
    let parents = table.parents(among: chosen, from: tip)
    return Dictionary(
      uniqueKeysWithValues: parents.map { version, parents in
        (table.id(of: version), parents.map { table.id(of: $0) })
      })
  }
}
