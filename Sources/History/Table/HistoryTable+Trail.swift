internal import Git

extension HistoryTable {
  /// A version that changed a note.
  struct Step: Sendable {
    let version: Int
    /// Which of the table's changes it is.
    let change: Int
  }

  /// The versions that changed the file, newest first, under the names it had; derived merges too.
  ///
  /// From each version the name is taken along to its parents: a rename changes it on the way back.
  /// Where a file of that name was deleted and made again, both lives are told.
  func trail(of path: TreePath, from tip: Int) -> [Step] {
    guard let path = paths.firstIndex(of: path.bytes) else { return [] }
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
  func names(of path: UInt32, at wanted: Int, from tip: Int) -> [UInt32] {
    var names: [UInt32] = []
    guard wanted <= tip else { return [] }
    follow(path, from: tip, downTo: wanted) { version, name, _ in
      if version == wanted { names.append(name) }
    }
    return names
  }

  /// Takes a name back through history: `body` gets each version that the tip has down to
  /// `oldest`, the name there, and the change of it.
  private func follow(
    _ path: UInt32, from tip: Int, downTo oldest: Int, _ body: (Int, UInt32, Int?) -> Void
  ) {
    var names = [UInt32](repeating: Self.none, count: tip + 1)
    // Where two children know a version's file by two names.
    var furtherNames: [Int: Set<UInt32>] = [:]
    names[tip] = path
    func follow(_ name: UInt32, in version: Int) {
      let change = change(of: name, in: version)
      body(version, name, change)
      let parents = parentRange(of: version)
      for position in parents {
        let parent = Int(self.parents[position])
        let former = former(
          of: name, in: version, parent: position - parents.lowerBound, change: change)
        if names[parent] == Self.none {
          names[parent] = former
        } else if names[parent] != former {
          furtherNames[parent, default: []].insert(former)
        }
      }
    }
    for version in stride(from: tip, through: oldest, by: -1) where names[version] != Self.none {
      follow(names[version], in: version)
      guard !furtherNames.isEmpty else { continue }
      for name in furtherNames.removeValue(forKey: version)?.sorted() ?? [] {
        follow(name, in: version)
      }
    }
  }

  /// The versions that made and that last changed each file of a version, but for derived merges:
  /// by number of the path.
  struct Life: Sendable {
    var first: Step
    var last: Step
  }

  /// The lives of these files, which are there in the version `tip`.
  func lives(of present: [TreePath], at tip: Int) -> [TreePath: Life] {
    // Which present file a path of that time belongs to; names change on the way back.
    var owners = [Int32](repeating: -1, count: paths.ends.count)
    var numbers: [TreePath: Int32] = [:]
    for (position, path) in present.enumerated() { numbers[path] = Int32(position) }
    for number in owners.indices {
      if let owner = numbers[path(UInt32(number))] { owners[number] = owner }
    }
    var lives = [Life?](repeating: nil, count: present.count)
    var isReached = [Bool](repeating: false, count: tip + 1)
    isReached[tip] = true
    for version in stride(from: tip, through: 0, by: -1) where isReached[version] {
      let range = parentRange(of: version)
      for parent in range { isReached[Int(parents[parent])] = true }
      let isDerived = isDerived(version)
      for change in changeRange(of: version) {
        let name = Int(changePaths[change])
        guard owners[name] >= 0 else { continue }
        let owner = Int(owners[name])
        if !isDerived { add(Step(version: version, change: change), to: &lives[owner]) }
        if changeFormers[change] != Self.none {
          owners[Int(changeFormers[change])] = Int32(owner)
          // In a merge the file has its present name on the way to other parents.
          if range.count == 1 { owners[name] = -1 }
        }
      }
      if range.count > 1 { followMoves(of: version, &owners) }
    }
    var found: [TreePath: Life] = [:]
    for (path, life) in zip(present, lives) {
      if let life { found[path] = life }
    }
    return found
  }

  private func add(_ step: Step, to life: inout Life?) {
    guard let known = life else {
      life = Life(first: step, last: step)
      return
    }
    if isNewer(step.version, than: known.last.version) { life?.last = step }
    if isNewer(known.first.version, than: step.version) { life?.first = step }
  }

  private func followMoves(of version: Int, _ owners: inout [Int32]) {
    for move in moveRange(of: version) {
      let owner = owners[Int(movePaths[move])]
      if owner >= 0 { owners[Int(moveFormers[move])] = owner }
    }
  }
}
