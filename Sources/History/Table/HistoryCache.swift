internal import Git
internal import State
internal import System
internal import WorkTree

extension History {
  /// If the cache lacks more versions than this, a command that must answer at once does not read them: this
  /// many take about a second.
  public static let fewVersions = 20_000
  /// How many versions the cache may lack for a command that shows the first versions before it has read the others.
  static let versionsReadAtOnce = 1_000

  private var historyCachePath: String { stateFolder[.history] }

  /// The table of all versions of the tip, and the tip's number in it; nil before the first
  /// version, or if the cache `.git/notes/cache/history` lacks more versions than `limit`.
  func historyTable(newVersions limit: Int = .max) throws -> (table: HistoryTable, tip: Int)? {
    guard let tip = try repository.head().commit else { return nil }
    if let loaded = loadedTable, let position = loaded.firstIndex(of: tip) {
      return (loaded, position)
    }
    let stored = Disk.contentIfAny(historyCachePath).flatMap { HistoryTable(parsing: $0) }
    var table = stored ?? HistoryTable()
    if table.firstIndex(of: tip) == nil {
      let known = table.versions.count
      guard let extended = try extend(table, to: tip, limit: limit) else { return nil }
      table = extended
      // A large table is not written again for a few new versions.
      if stored == nil || (table.versions.count - known) * 1_000 >= table.versions.count {
        keep(table)
      }
    }
    loadedTable = table
    return table.firstIndex(of: tip).map { (table, $0) }
  }

  /// Makes and saves the table of a history with too many new versions to be read while somebody
  /// waits.
  public func rememberLongHistory(beyond limit: Int = History.fewVersions) throws {
    if try historyTable(newVersions: limit) == nil { _ = try historyTable() }
  }

  private func extend(_ known: HistoryTable, to tip: ObjectID, limit: Int) throws -> HistoryTable? {
    var builder = HistoryTableBuilder(extending: known)
    guard let new = try newVersions(in: builder, to: tip, limit: limit) else { return nil }
    // The trees of the last versions, which often are the parents of the next ones.
    var trees: [ObjectID: ObjectID] = [:]
    for (position, id) in new.enumerated() {
      let commit = try repository.commit(id)
      let changes = try self.changes(
        of: commit, parentTree: commit.parents.first.flatMap { trees[$0] })
      let moves = try commit.parents.dropFirst().map { try formerPaths(of: commit, in: $0) }
      builder.add(commit, changes: changes, moves: moves)
      if trees.count > 1_000 { trees.removeAll() }
      trees[id] = commit.tree
      progress?(position + 1, new.count)
    }
    return builder.table
  }

  /// The versions that are not in the table, parents before children; nil if there are more than
  /// `limit`.
  private func newVersions(
    in table: HistoryTableBuilder, to tip: ObjectID, limit: Int
  ) throws -> [ObjectID]? {
    var found: [ObjectID] = []
    var seen: Set<ObjectID> = []
    // A version is visited a second time after its parents.
    var waiting = [(id: tip, hasParentsTold: false)]
    while let (id, hasParentsTold) = waiting.popLast() {
      if hasParentsTold {
        found.append(id)
      } else if !table.contains(id), seen.insert(id).inserted {
        if seen.count > limit { return nil }
        waiting.append((id, true))
        waiting += try repository.commit(id).parents.reversed().map { ($0, false) }
      }
    }
    return found
  }

  /// Writes the cache; if that fails, the next command computes it again.
  private func keep(_ table: HistoryTable) {
    Disk.keep(table.serialized, at: historyCachePath)
  }
}
