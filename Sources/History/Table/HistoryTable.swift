internal import Git
internal import Merge

/// The history in numbers: which version changed which file, from which blob to which.
///
/// Versions are numbered so that parents come before children, paths and authors in the order they
/// were added. One pass over the numbers finds a note's history without reading an object. The
/// numbers stay as they are in the file (HistoryTable+File.swift), and a command decodes only those
/// that it needs.
struct HistoryTable: Equatable, Sendable {
  var versions = Records(ofSize: 52)
  /// The parents of all versions, beginning with those of the first version; changes and moves are
  /// stored in the same way.
  var parents = Records(ofSize: 4)
  var changes = Records(ofSize: 48)
  /// The notes of a merge that have another name in a further parent.
  var moves = Records(ofSize: 12)
  var paths = Texts()
}

extension HistoryTable {
  func id(of version: Int) -> ObjectID { versions.id(version, at: 0) ?? .zero }

  /// The author's time, in seconds since 1970.
  func time(of version: Int) -> Int64 { versions.long(version, at: 20) }

  /// The time for ordering: the author's, or the committer's if the author's is before a parent's.
  func orderingTime(of version: Int) -> Int64 { versions.long(version, at: 28) }

  func isDerived(_ version: Int) -> Bool { versions.number(version, at: 36) & 1 != 0 }

  /// Whether a forgetting rewrote the version: notes-forget(1).
  func isRewritten(_ version: Int) -> Bool { versions.number(version, at: 36) & 2 != 0 }

  // The range of the version's parents, changes or moves among those of all versions.
  func parents(of version: Int) -> Range<Int> { run(of: version, endingAt: 40) }
  func changes(of version: Int) -> Range<Int> { run(of: version, endingAt: 44) }
  func moves(of version: Int) -> Range<Int> { run(of: version, endingAt: 48) }

  private func run(of version: Int, endingAt field: Int) -> Range<Int> {
    let start = version == 0 ? 0 : versions.number(version - 1, at: field)
    return start..<versions.number(version, at: field)
  }

  /// The number of a version; nil if it is not in the table. The newest versions are searched
  /// first.
  func firstIndex(of id: ObjectID) -> Int? {
    // The first bytes rule out most other versions; comparing whole IDs would take ten times as
    // long.
    let start = Records(ofSize: ObjectID.byteCount, id.bytes[...]).long(0)
    return versions.indices.last { versions.long($0) == start && self.id(of: $0) == id }
  }

  func path(ofChange change: Int) -> Int { changes.number(change) }

  /// The file's former name if the change is a rename.
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

  /// The number of a version's change of a path; nil if there is none.
  func change(of path: Int, in version: Int) -> Int? {
    changes(of: version).first { changes.number($0) == path }
  }

  /// The name of a path in the parent at that position.
  func former(of path: Int, in version: Int, parent: Int, change: Int?) -> Int {
    if parent == 0 { return change.flatMap(former(ofChange:)) ?? path }
    let move = moves(of: version).first {
      moves.number($0) == parent && moves.number($0, at: 4) == path
    }
    return move.map { moves.number($0, at: 8) } ?? path
  }

  /// The nearest version that changed the file, along the first parents.
  func maker(of path: Int, at version: Int) -> Int? {
    var current: Int? = version
    while let version = current, change(of: path, in: version) == nil {
      current = parents(of: version).first.map { parents.number($0) }
    }
    return current
  }

  /// The file's blob in a version; nil if the version does not have the file.
  func blob(of path: Int, at version: Int) -> ObjectID? {
    maker(of: path, at: version).flatMap { change(of: path, in: $0) }.flatMap(new(ofChange:))
  }
}

/// Adds versions to a table, parents before children.
struct HistoryTableBuilder {
  private(set) var table: HistoryTable
  private let known: HistoryTable
  // The versions added here. The known ones are searched instead, which is fast enough for the few
  // lookups while people wait.
  private var versions: [ObjectID: Int] = [:]
  private var paths: [TreePath: Int] = [:]

  init(extending table: HistoryTable) { (self.table, known) = (table, table) }

  func contains(_ id: ObjectID) -> Bool { number(of: id) != nil }

  private func number(of id: ObjectID) -> Int? { versions[id] ?? known.firstIndex(of: id) }

  /// `moves` has an element for each further parent: new paths, with their paths there.
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
