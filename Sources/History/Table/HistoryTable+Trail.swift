public import Git

extension HistoryTable {
  /// A version that changed a note.
  struct Step: Sendable {
    let version: Int
    /// Which of the table's changes it is.
    let change: Int
  }

  /// The versions of the tip, newest first, without derived merges.
  func versions(from tip: Int) -> [Int] {
    reachable(from: tip).filter { !versions[$0].isDerived }.sorted { isNewer($0, than: $1) }
  }

  /// The versions that changed a note, newest first, without derived merges.
  func versions(of path: TreePath, from tip: Int) -> [Int] {
    var found: [Int] = []
    for step in trail(of: path, from: tip)
    where !versions[step.version].isDerived && found.last != step.version {
      found.append(step.version)
    }
    return found
  }

  /// The versions of the tip, children before parents.
  private func reachable(from tip: Int) -> [Int] {
    var isReached = [Bool](repeating: false, count: tip + 1)
    isReached[tip] = true
    return stride(from: tip, through: 0, by: -1).filter { version in
      if isReached[version] {
        for parent in parents(of: version) { isReached[parent] = true }
      }
      return isReached[version]
    }
  }

  /// The versions that changed the file, newest first, under the names it had; derived merges too.
  ///
  /// From each version the name is taken along to its parents: a rename changes it on the way back.
  /// Where a file of that name was deleted and made again, both lives are told.
  func trail(of path: TreePath, from tip: Int) -> [Step] {
    guard let path = paths.firstIndex(of: path) else { return [] }
    var steps: [Step] = []
    follow(path, from: tip, downTo: 0) { version, _, change in
      if let change { steps.append(Step(version: version, change: change)) }
    }
    return steps.sorted {
      $0.version == $1.version ? $0.change < $1.change : isNewer($0.version, than: $1.version)
    }
  }

  /// What a file of the tip was called in one of its versions; several names where histories that
  /// gave it different ones come together.
  func names(of path: Int, at wanted: Int, from tip: Int) -> [Int] {
    var names: [Int] = []
    guard wanted <= tip else { return [] }
    follow(path, from: tip, downTo: wanted) { version, name, _ in
      if version == wanted { names.append(name) }
    }
    return names
  }

  /// Takes a name back through history: `body` gets each version that the tip has down to
  /// `oldest`, the name there, and the change of it.
  private func follow(
    _ path: Int, from tip: Int, downTo oldest: Int, _ body: (Int, Int, Int?) -> Void
  ) {
    var names = [Int?](repeating: nil, count: tip + 1)
    // Where two children know a version's file by two names.
    var furtherNames: [Int: Set<Int>] = [:]
    names[tip] = path
    func visit(_ version: Int, as name: Int) {
      let change = change(of: name, in: version)
      body(version, name, change)
      for (position, parent) in parents(of: version).enumerated() {
        let former = former(of: name, in: version, parent: position, change: change)
        if names[parent] == nil {
          names[parent] = former
        } else if names[parent] != former {
          furtherNames[parent, default: []].insert(former)
        }
      }
    }
    for version in stride(from: tip, through: oldest, by: -1) {
      guard let name = names[version] else { continue }
      visit(version, as: name)
      if furtherNames.isEmpty { continue }
      for name in furtherNames.removeValue(forKey: version)?.sorted() ?? [] {
        visit(version, as: name)
      }
    }
  }

  /// The versions that made and that last changed a file, but for derived merges.
  struct Life: Sendable {
    let first: Step
    let last: Step
  }

  /// The lives of these files, which are there in the version `tip`.
  func lives(of present: [TreePath], at tip: Int) -> [TreePath: Life] {
    // Which present file a path of that time belongs to; names change on the way back.
    let wanted = Set(present)
    var owners = paths.map { wanted.contains($0) ? $0 : nil }
    var lives: [TreePath: Life] = [:]
    for number in reachable(from: tip) {
      let version = versions[number]
      for position in version.changes {
        let change = changes[position]
        guard let owner = owners[change.path] else { continue }
        if !version.isDerived {
          let step = Step(version: number, change: position)
          let life = lives[owner] ?? Life(first: step, last: step)
          lives[owner] = Life(
            first: isNewer(life.first.version, than: number) ? step : life.first,
            last: isNewer(number, than: life.last.version) ? step : life.last)
        }
        if let former = change.former {
          owners[former] = owner
          // In a merge the file has its present name on the way to other parents.
          if version.parents.count == 1 { owners[change.path] = nil }
        }
      }
      for move in moves[version.moves] {
        if let owner = owners[move.path] { owners[move.former] = owner }
      }
    }
    return lives
  }
}

extension HistoryTable {
  /// For each of some versions the nearest of them that it was made on: its parents in a history that
  /// has these versions alone.
  func parents(among chosen: Set<Int>, from tip: Int) -> [Int: [Int]] {
    var found: [Int: [Int]] = [:]
    // The chosen versions that are met first on the way back from each version.
    var nearest: [[Int]] = []
    for version in 0...tip {
      var met: [Int] = []
      for parent in parents(of: version) {
        let further = nearest[parent]
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
        (table.versions[version].id, parents.map { table.versions[$0].id })
      })
  }
}
