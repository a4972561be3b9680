internal import Git
internal import Merge

/// The history in numbers: which version changed which file, from which bytes to which.
///
/// Versions are numbered so that parents come before children, paths and authors as they came. What
/// a note went through is found by one pass over numbers, without opening an object.
struct HistoryTable: Equatable, Sendable {
  struct Version: Equatable, Sendable {
    let id: ObjectID
    /// The author's time, in seconds since 1970.
    let time: Int64
    let author: Int
    let isDerived: Bool
    /// Where its parents, changes and moves are among those of all versions.
    let parents: Range<Int>
    let changes: Range<Int>
    let moves: Range<Int>
    /// The latest time of it and of all it was made on.
    let order: Int64
    /// The longest way to a version without parents.
    let generation: Int
  }

  struct Change: Equatable, Sendable {
    let path: Int
    /// What the file was called before, when it was renamed.
    let former: Int?
    let old: ObjectID?
    let new: ObjectID?
  }

  /// Where a note of a merge has another name in one of the merge's further parents.
  struct Move: Equatable, Sendable {
    /// Its position among the merge's parents.
    let parent: Int
    let path: Int
    let former: Int
  }

  var versions: [Version] = []
  var parents: [Int] = []
  var changes: [Change] = []
  var moves: [Move] = []
  var paths: [TreePath] = []
  var authors: [String] = []

  /// Adds a version whose parents, changes and moves were appended to those of all.
  mutating func endVersion(_ id: ObjectID, time: Int64, author: Int, isDerived: Bool) {
    let last = versions.last
    let range = (last?.parents.upperBound ?? 0)..<parents.count
    versions.append(
      Version(
        id: id, time: time, author: author, isDerived: isDerived, parents: range,
        changes: (last?.changes.upperBound ?? 0)..<changes.count,
        moves: (last?.moves.upperBound ?? 0)..<moves.count,
        order: parents[range].reduce(time) { max($0, versions[$1].order) },
        generation: parents[range].reduce(0) { max($0, versions[$1].generation + 1) }))
  }
}

extension HistoryTable {
  func parents(of version: Int) -> ArraySlice<Int> { parents[versions[version].parents] }

  /// The number of a version, or nil; the newest are looked at first.
  func firstIndex(of id: ObjectID) -> Int? { versions.lastIndex { $0.id == id } }

  /// The change that a version made to a path: its number, or nil.
  func change(of path: Int, in version: Int) -> Int? {
    versions[version].changes.first { changes[$0].path == path }
  }

  /// What a path is called in the parent of that position.
  func former(of path: Int, in version: Int, parent: Int, change: Int?) -> Int {
    if parent == 0 { return change.flatMap { changes[$0].former } ?? path }
    return moves[versions[version].moves].first { $0.parent == parent && $0.path == path }?.former
      ?? path
  }

  /// The nearest version on the line of first parents that changed the file.
  func maker(of path: Int, at version: Int) -> Int? {
    var current: Int? = version
    while let version = current, change(of: path, in: version) == nil {
      current = parents(of: version).first
    }
    return current
  }

  /// The file's blob in a version, or nil where it has none.
  func blob(of path: Int, at version: Int) -> ObjectID? {
    maker(of: path, at: version).flatMap { change(of: path, in: $0) }.flatMap { changes[$0].new }
  }

  /// The order in which versions are shown, newest first: by time, which never goes back from
  /// parents to children; then children before parents; then by ID, so that all devices agree.
  func isNewer(_ left: Int, than right: Int) -> Bool {
    let (left, right) = (versions[left], versions[right])
    return (left.order, left.generation, left.id) > (right.order, right.generation, right.id)
  }

  /// A change as a value.
  func value(of change: Int) -> VersionChange {
    let change = changes[change]
    return VersionChange(
      path: paths[change.path], formerPath: change.former.map { paths[$0] }, old: change.old,
      new: change.new)
  }
}

/// Adds versions to a table, parents before children.
struct HistoryTableBuilder {
  private(set) var table: HistoryTable
  private var versions: [ObjectID: Int]
  private var paths: [TreePath: Int]

  init(extending table: HistoryTable) {
    self.table = table
    versions = Dictionary(zip(table.versions.map(\.id), 0...)) { first, _ in first }
    paths = Dictionary(zip(table.paths, 0...)) { first, _ in first }
  }

  func contains(_ id: ObjectID) -> Bool { versions[id] != nil }

  /// `moves` has for each further parent the new paths and those there.
  mutating func add(_ commit: Commit, changes: [VersionChange], moves: [[TreePath: TreePath]]) {
    table.parents += commit.parents.compactMap { versions[$0] }
    for change in changes {
      table.changes.append(
        HistoryTable.Change(
          path: number(of: change.path), former: change.formerPath.map { number(of: $0) },
          old: change.old, new: change.new))
    }
    for (position, moves) in moves.enumerated() {
      for (path, former) in moves.sorted(by: { $0.key < $1.key }) {
        table.moves.append(
          HistoryTable.Move(
            parent: position + 1, path: number(of: path), former: number(of: former)))
      }
    }
    versions[commit.id] = table.versions.count
    table.endVersion(
      commit.id, time: commit.author.time, author: number(ofAuthor: commit.author.name),
      isDerived: DerivedMerge.isDerived(commit))
  }

  private mutating func number(of path: TreePath) -> Int {
    if let known = paths[path] { return known }
    table.paths.append(path)
    paths[path] = table.paths.count - 1
    return table.paths.count - 1
  }

  /// There are few: as many as devices.
  private mutating func number(ofAuthor name: String) -> Int {
    if let known = table.authors.lastIndex(of: name) { return known }
    table.authors.append(name)
    return table.authors.count - 1
  }
}
