public import Git
internal import WorkTree

extension HistoryTable {
  /// A version that changed a note.
  struct Step: Sendable {
    let version: Int
    /// Which of the table's changes it is.
    let change: Int
  }

  /// The versions that changed a note, or all, newest first, without derived merges.
  func versions(of path: TreePath? = nil, from tip: Int, in order: VersionOrder) -> [Int] {
    let versions =
      path.map { trail(of: $0, from: tip, in: order).map(\.version).eachOnce } ?? order.versions
    return versions.filter { !isDerived($0) }
  }

  /// The versions that changed the file, newest first, under the names it had; derived merges too.
  ///
  /// From each version the name is taken along to its parents: a rename changes it on the way back.
  /// Where a file of that name was deleted and made again, both lives are told.
  func trail(
    of path: TreePath, from tip: Int, in order: VersionOrder, by lookup: TableLookup? = nil
  ) -> [Step] {
    let lookup = lookup ?? TableLookup(self)
    guard let path = lookup.path(path.bytes) else { return [] }
    var steps: [Step] = []
    follow(path, from: tip, downTo: 0, by: lookup) { version, _, change in
      if let change { steps.append(Step(version: version, change: change)) }
    }
    return steps.sorted {
      $0.version == $1.version
        ? $0.change < $1.change : order.isNewer($0.version, than: $1.version)
    }
  }

  /// The names of a file of the tip in one of its versions; several if histories that gave it different
  /// ones come together.
  func names(of path: Int, at wanted: Int, from tip: Int) -> [Int] {
    var names: [Int] = []
    guard wanted <= tip else { return [] }
    follow(path, from: tip, downTo: wanted, by: TableLookup(self)) { version, name, _ in
      if version == wanted { names.append(name) }
    }
    return names
  }

  /// Takes a name back through history: `body` gets each version that the tip has down to
  /// `oldest`, the name there, and the change of it.
  private func follow(
    _ path: Int, from tip: Int, downTo oldest: Int, by lookup: TableLookup,
    _ body: (Int, Int, Int?) -> Void
  ) {
    // None where it is negative.
    var names = [Int](repeating: -1, count: tip + 1)
    // The further names of a version's file that two children know by two names.
    var furtherNames: [Int: Set<Int>] = [:]
    names[tip] = path
    func visit(_ version: Int, as name: Int) {
      let change = lookup.change(of: name, in: version)
      body(version, name, change)
      for (position, place) in parents(of: version).enumerated() {
        let parent = parents.number(place)
        let former = lookup.former(of: name, in: version, parent: position, change: change)
        if names[parent] < 0 {
          names[parent] = former
        } else if names[parent] != former {
          furtherNames[parent, default: []].insert(former)
        }
      }
    }
    for version in stride(from: tip, through: oldest, by: -1) where names[version] >= 0 {
      visit(version, as: names[version])
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

  /// The life of each of these files, which are by path and which the version `tip` has or had. It is the
  /// same on every device, and whatever other files are asked for.
  func lives(of files: [TreePath], at tip: Int, in order: VersionOrder) -> [Life?] {
    var lives = [Life?](repeating: nil, count: files.count)
    var waiting = [tip: NameOwners(present: paths.places(in: files))]
    var copied = 0
    // Newest first: what is met first changed a file last.
    for version in order.versions {
      guard var owners = waiting.removeValue(forKey: version) else { continue }
      for change in changes(of: version) where !isDerived(version) {
        let step = Step(version: version, change: change)
        owners.forEach(of: path(ofChange: change)) { owner in
          if lives[owner]?.first.version == version { return }
          lives[owner] = Life(first: step, last: lives[owner]?.last ?? step)
        }
      }
      // The first parent is the last, and takes the names over: so a line of renames copies none.
      for (position, place) in parents(of: version).enumerated().reversed() {
        let parent = parents.number(place)
        let others = position == 0 ? nil : owners
        owners.undo(renames(of: version, since: position), &copied)
        waiting[parent] = waiting[parent]?.joined(with: owners, &copied) ?? owners
        if let others { owners = others }
      }
    }
    return lives
  }

  /// The files of a version that have other names in the parent of that position.
  private func renames(of version: Int, since position: Int) -> [(path: Int, former: Int)] {
    if position == 0 {
      return changes(of: version).compactMap { change in
        former(ofChange: change).map { (path(ofChange: change), $0) }
      }
    }
    return moves(of: version).filter { moves.number($0) == position }.map {
      (moves.number($0, at: 4), moves.number($0, at: 8))
    }
  }
}

/// Which files the paths of a version belong to: each to the file that has it in the tip, unless a rename
/// since then says otherwise.
private struct NameOwners {
  private let present: [Int?]
  private var names = Renamed()

  /// Of each path that a rename touched, the files it belongs to; none where empty.
  private final class Renamed {
    var owners: [Int: [Int]]
    init(_ owners: [Int: [Int]] = [:]) { self.owners = owners }
  }

  /// How many names are copied at most, for lines of history that go side by side: notes-list(1). Beyond
  /// that they share those of the line that was met first, so that no history takes all memory.
  private static let copiesAtMost = 4_000_000

  init(present: [Int?]) { self.present = present }

  func forEach(of path: Int, _ body: (Int) -> Void) {
    if let owners = names.owners[path] { return owners.forEach(body) }
    if let owner = present[path] { body(owner) }
  }

  private func owners(of path: Int) -> [Int] {
    names.owners[path] ?? present[path].map { [$0] } ?? []
  }

  /// Goes back before files were renamed: what had a file's former name then was that file.
  mutating func undo(_ renames: [(path: Int, former: Int)], _ copied: inout Int) {
    if renames.isEmpty { return }
    if !isKnownUniquelyReferenced(&names) {
      copied += names.owners.count + 1
      guard copied <= Self.copiesAtMost else { return }
      names = Renamed(names.owners)
    }
    let moved = renames.map { (former: $0.former, owners: owners(of: $0.path)) }
    for (path, former) in renames { (names.owners[path], names.owners[former]) = ([], []) }
    for (former, owners) in moved { add(owners, to: former) }
  }

  /// The owners in a version that two others were made on.
  func joined(with other: NameOwners, _ copied: inout Int) -> NameOwners {
    if names === other.names { return self }
    copied += names.owners.count + other.names.owners.count
    guard copied <= Self.copiesAtMost else { return self }
    var joined = self
    joined.names = Renamed(names.owners)
    for path in Set(names.owners.keys).union(other.names.owners.keys) {
      joined.names.owners[path] = owners(of: path)
      joined.add(other.owners(of: path), to: path)
    }
    return joined
  }

  private mutating func add(_ owners: [Int], to path: Int) {
    for owner in owners where names.owners[path]?.contains(owner) != true {
      names.owners[path, default: []].append(owner)
    }
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
      for place in parents(of: version) {
        let further = nearest[parents.number(place)]
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
    let chosen = Set(
      table.trail(of: path, from: tip, in: order(of: table, from: tip)).map(\.version))
    let parents = table.parents(among: chosen, from: tip)
    return Dictionary(
      uniqueKeysWithValues: parents.map { version, parents in
        (table.id(of: version), parents.map(table.id(of:)))
      })
  }
}
