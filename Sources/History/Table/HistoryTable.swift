internal import Git
internal import Merge

/// The history in numbers: which version changed which file, from which bytes to which.
///
/// Versions are numbered so that parents come before children, paths and authors as they came. What
/// a note went through is found by one pass over numbers, without opening an object. They stay as the
/// file has them (HistoryTable+File.swift), and a command takes out those alone that it needs.
struct HistoryTable: Equatable, Sendable {
  var versions = Records(ofSize: 52)
  /// The parents of all versions, those of the first one first; so are changes and moves.
  var parents = Records(ofSize: 4)
  var changes = Records(ofSize: 48)
  /// The notes of a merge that have another name in one of its further parents.
  var moves = Records(ofSize: 12)
  var paths = Texts()
}

extension HistoryTable {
  func id(of version: Int) -> ObjectID { versions.id(version, at: 0) ?? .zero }

  /// The author's time, in seconds since 1970.
  func time(of version: Int) -> Int64 { versions.long(version, at: 20) }

  /// The time that orders it: the author's, or where that is before a parent's the committer's.
  func orderingTime(of version: Int) -> Int64 { versions.long(version, at: 28) }

  func isDerived(_ version: Int) -> Bool { versions.number(version, at: 36) & 1 != 0 }

  /// Whether it was made again when something was forgotten: notes-forget(1).
  func isRewritten(_ version: Int) -> Bool { versions.number(version, at: 36) & 2 != 0 }

  // The ranges of its parents, changes and moves among those of all versions.
  func parents(of version: Int) -> Range<Int> { run(of: version, endingAt: 40) }
  func changes(of version: Int) -> Range<Int> { run(of: version, endingAt: 44) }
  func moves(of version: Int) -> Range<Int> { run(of: version, endingAt: 48) }

  private func run(of version: Int, endingAt field: Int) -> Range<Int> {
    let start = version == 0 ? 0 : versions.number(version - 1, at: field)
    return start..<versions.number(version, at: field)
  }

  /// The number of a version, or nil; the newest are looked at first.
  func firstIndex(of id: ObjectID) -> Int? {
    // Its first bytes tell most others apart; an ID for each would take ten times as long.
    let start = Records(ofSize: ObjectID.byteCount, id.bytes[...]).long(0)
    return versions.indices.last { versions.long($0) == start && self.id(of: $0) == id }
  }

  func path(ofChange change: Int) -> Int { changes.number(change) }

  /// The file's name before, when it was renamed.
  func former(ofChange change: Int) -> Int? {
    let former = changes.number(change, at: 4)
    return former == Records.absent ? nil : former
  }

  func old(ofChange change: Int) -> ObjectID? { changes.id(change, at: 8) }
  func new(ofChange change: Int) -> ObjectID? { changes.id(change, at: 28) }

  func path(_ number: Int) -> TreePath { TreePath(bytes: paths[number]) }

  func value(of change: Int) -> VersionChange {
    VersionChange(
      path: path(path(ofChange: change)), formerPath: former(ofChange: change).map(path),
      old: old(ofChange: change), new: new(ofChange: change))
  }

  /// The change that a version made to a path: its number, or nil.
  func change(of path: Int, in version: Int) -> Int? {
    changes(of: version).first { changes.number($0) == path }
  }

  /// The name of a path in the parent of that position.
  func former(of path: Int, in version: Int, parent: Int, change: Int?) -> Int {
    if parent == 0 { return change.flatMap(former(ofChange:)) ?? path }
    let move = moves(of: version).first {
      moves.number($0) == parent && moves.number($0, at: 4) == path
    }
    return move.map { moves.number($0, at: 8) } ?? path
  }

  /// The nearest version on the line of first parents that changed the file.
  func maker(of path: Int, at version: Int) -> Int? {
    var current: Int? = version
    while let version = current, change(of: path, in: version) == nil {
      current = parents(of: version).first.map { parents.number($0) }
    }
    return current
  }

  /// The file's blob in a version, or nil where it has none.
  func blob(of path: Int, at version: Int) -> ObjectID? {
    maker(of: path, at: version).flatMap { change(of: path, in: $0) }.flatMap(new(ofChange:))
  }
}

/// Adds versions to a table, parents before children.
struct HistoryTableBuilder {
  private(set) var table: HistoryTable
  private let known: HistoryTable
  // The versions that were added. The rest is looked for: it is little in what people wait for.
  private var versions: [ObjectID: Int] = [:]
  private var paths: [TreePath: Int] = [:]

  init(extending table: HistoryTable) { (self.table, known) = (table, table) }

  func contains(_ id: ObjectID) -> Bool { number(of: id) != nil }

  private func number(of id: ObjectID) -> Int? { versions[id] ?? known.firstIndex(of: id) }

  /// `moves` has for each further parent the new paths and those there.
  mutating func add(_ commit: Commit, changes: [VersionChange], moves: [[TreePath: TreePath]]) {
    let parents = commit.parents.compactMap { number(of: $0) }
    for parent in parents { table.parents.append(parent) }
    for change in changes {
      table.changes.append(number(of: change.path))
      table.changes.append(change.formerPath.map { number(of: $0) } ?? Records.absent)
      table.changes.append(change.old)
      table.changes.append(change.new)
    }
    for (position, moves) in moves.enumerated() {
      for (path, former) in moves.sorted(by: { $0.key < $1.key }) {
        table.moves.append(position + 1)
        table.moves.append(number(of: path))
        table.moves.append(number(of: former))
      }
    }
    versions[commit.id] = table.versions.count
    let isDatedBack = parents.contains { table.time(of: $0) > commit.author.time }
    table.versions.append(commit.id)
    table.versions.append(long: commit.author.time)
    table.versions.append(long: isDatedBack ? commit.committer.time : commit.author.time)
    table.versions.append((DerivedMerge.isDerived(commit) ? 1 : 0) | (commit.isRewritten ? 2 : 0))
    for end in [table.parents.count, table.changes.count, table.moves.count] {
      table.versions.append(end)
    }
  }

  private mutating func number(of path: TreePath) -> Int {
    if let number = paths[path] { return number }
    let number = known.paths.firstIndex(of: path.bytes) ?? table.paths.append(path.bytes)
    paths[path] = number
    return number
  }
}
