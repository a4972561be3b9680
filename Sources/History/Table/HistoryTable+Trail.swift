public import Git
internal import WorkTree

extension HistoryTable {
  /// A version that changed a note.
  struct Step: Sendable {
    let version: Int
    /// The number of its change in the table.
    let change: Int
  }

  /// The versions that changed a note, or all versions, newest first, without derived merges.
  func versions(of path: TreePath? = nil, from tip: Int, in order: VersionOrder) -> [Int] {
    let versions =
      path.map { trail(of: $0, from: tip, in: order).map(\.version).eachOnce } ?? order.versions
    return versions.filter { !isDerived($0) }
  }

  /// The versions that changed the file, newest first, under the names that it had then; including derived merges.
  ///
  /// The name is followed from each version to its parents, and a rename changes it on the way. If a file of that name
  /// was deleted and made again, the changes of both files are included.
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

  /// The names that a file of the tip has in one of its versions; several if branches with different
  /// names were merged.
  func names(of path: Int, at wanted: Int, from tip: Int) -> [Int] {
    var names: [Int] = []
    guard wanted <= tip else { return [] }
    follow(path, from: tip, downTo: wanted, by: TableLookup(self)) { version, name, _ in
      if version == wanted { names.append(name) }
    }
    return names
  }

  /// Follows a name back through history: `body` is called with each version of the tip down to
  /// `oldest`, the name there, and its change.
  private func follow(
    _ path: Int, from tip: Int, downTo oldest: Int, by lookup: TableLookup,
    _ body: (Int, Int, Int?) -> Void
  ) {
    // A negative number means that the version has no such file.
    var names = [Int](repeating: -1, count: tip + 1)
    // Further names of the file in a version, if two children have it under different names.
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

  /// The version that made a file and the version that last changed it, without derived merges.
  struct Life: Sendable {
    let first: Step
    let last: Step
  }

  /// The life of each of these files, which are sorted by path and which version `tip` has or had. The
  /// result is the same on every device, and does not depend on the other requested files.
  func lives(of files: [TreePath], at tip: Int, in order: VersionOrder) -> [Life?] {
    var lives = [Life?](repeating: nil, count: files.count)
    var waiting = [tip: NameOwners(present: paths.places(in: files))]
    var copied = 0
    // The walk goes from the newest version back: the first change that is found is the last change
    // of the file.
    for version in order.versions {
      guard var owners = waiting.removeValue(forKey: version) else { continue }
      for change in changes(of: version) where !isDerived(version) {
        let step = Step(version: version, change: change)
        owners.forEach(of: path(ofChange: change)) { owner in
          if lives[owner]?.first.version == version { return }
          lives[owner] = Life(first: step, last: lives[owner]?.last ?? step)
        }
      }
      // The first parent is last and gets the names without a copy, so a linear history copies nothing.
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

  /// The files of a version that have other names in the parent at that position.
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

/// The files to which the paths of a version belong: each path belongs to the file at that path in the
/// tip, unless a later rename changes this.
private struct NameOwners {
  private let present: [Int?]
  private var names = Renamed()

  /// For each path that a rename affects, the files that it belongs to; maybe none.
  private final class Renamed {
    var owners: [Int: [Int]]
    init(_ owners: [Int: [Int]] = [:]) { self.owners = owners }
  }

  /// The most names that are copied for parallel branches of history: notes-list(1). Above that, branches share
  /// the names of the first branch, to limit memory use.
  private static let copiesAtMost = 4_000_000

  init(present: [Int?]) { self.present = present }

  func forEach(of path: Int, _ body: (Int) -> Void) {
    if let owners = names.owners[path] { return owners.forEach(body) }
    if let owner = present[path] { body(owner) }
  }

  private func owners(of path: Int) -> [Int] {
    names.owners[path] ?? present[path].map { [$0] } ?? []
  }

  /// Moves back before renames: a file's former name belonged to that file then.
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

  /// The owners in a version that is the parent of two others.
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
  /// For each chosen version, the nearest chosen versions among its ancestors: its parents in a
  /// history of only these versions.
  func parents(among chosen: Set<Int>, from tip: Int) -> [Int: [Int]] {
    var found: [Int: [Int]] = [:]
    // For each version, the nearest chosen versions on the way back.
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
  /// For each version that changed a note, including derived merges, the nearest such versions
  /// among its ancestors.
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
